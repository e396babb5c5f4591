/*
 * Copyright 2026 The Netty over RPMA Authors
 *
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
 * License. You may obtain a copy of the License at
 *
 *     https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on an
 * "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License.
 */
package io.rpma.soft;

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A shared receive queue whose users come and go. */
@Timeout(30)
class SharedReceivesTest {
    private static final int SLOTS = 4;

    private static Connection[] connect(Station station, Endpoint endpoint, ConnectionConfig server) throws Exception {
        ConnectionRequest request = station.peer.newConnectionRequest(endpoint.localAddress(), null);
        Connection client = request.connect(null);
        Connection accepted = Station.awaitRequest(endpoint, server).connect(null);
        Station.expect(ConnectionEvent.ESTABLISHED, client);
        Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        return new Connection[] {client, accepted};
    }

    /**
     * Slots are posted anew in another order than before, so that each lies where another one was. Who took the other one once
     * has nothing to do with it: when he goes, no receive goes with him.
     */
    @Test
    void aReceivePostedAnewIsNotTakenByWhoTookItBefore() throws Exception {
        try (Station station = new Station(); Endpoint endpoint = station.listen()) {
            SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(station.provider.newSharedReceiveQueueConfig()
                .receiveQueueSize(SLOTS).receiveCompletionQueueSize(2 * SLOTS));
            CompletionQueue queue = shared.receiveCompletionQueue();
            for (int i = 0; i < SLOTS; i++) {
                shared.receive(station.region, i * 64L, 64, i);
            }
            try (ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared)) {
                Connection[] first = connect(station, endpoint, config);
                Connection[] second = connect(station, endpoint, config);
                WorkCompletions batch = new WorkCompletions(2 * SLOTS);
                for (int round = 0; round < 5; round++) {
                    first[0].send(station.region, 4096, 8, CompletionFlag.ON_ERROR, 0);
                    first[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, 0);
                    Station.expect(first[0].completionQueue(), 0, 0);
                    assertEquals(2, queue.poll(batch));
                    for (int i = 0; i < 2; i++) {
                        shared.receive(station.region, batch.context(i) * 64, 64, batch.context(i));
                    }
                }
                first[1].close();
                assertEquals(0, queue.poll(batch));
                for (int i = 0; i < SLOTS; i++) {
                    second[0].send(station.region, 4096, 8, CompletionFlag.ALWAYS, i);
                    Station.expect(second[0].completionQueue(), i, 0);
                }
                assertEquals(SLOTS, queue.poll(batch));
                for (int i = 0; i < SLOTS; i++) {
                    assertEquals(0, batch.statusCode(i));
                }
                first[0].close();
                second[0].close();
                second[1].close();
            }
            shared.close();
        }
    }
}
