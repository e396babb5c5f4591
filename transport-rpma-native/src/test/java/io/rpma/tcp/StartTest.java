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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

/** Tests the start of a queue pair whose shared receive queue is polled by another thread. */
@Timeout(120)
class StartTest {
    /**
     * As soon as the shared receive queue watches the socket, the thread that polls it drives the queue pair. The socket may have
     * come to its end by then.
     */
    @Test
    void theThreadThatPollsTheReceivesMayFindTheEndAtOnce() throws Exception {
        try (Station station = new Station(); SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig();
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(
                    sizes.receiveQueueSize(2).receiveCompletionQueueSize(2));
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(queue);
                RawClient client = RawClient.requesting(station.address())) {
            client.endSending();
            ConnectionRequest request = station.endpoint.waitForConnectionRequest(config, Station.LONG);
            assertNotNull(request, "no request");
            FutureTask<Connection> accepted = new FutureTask<>(() -> request.connect(null));
            Thread accepting = new Thread(accepted);
            // The thread that accepts waits for this lock to have the socket watched.
            synchronized (((TcpCompletionQueue) queue.receiveCompletionQueue()).alarm()) {
                accepting.start();
                while (accepting.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                // This thread does what it does when it polls and the socket is readable.
                ((TcpSharedReceiveQueue.Member[]) Station.field(queue, "members"))[0].driveAsMember(true);
            }
            try (Connection server = accepted.get(Station.LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertEquals(ConnectionEvent.REJECTED, server.waitForEvent(Station.LONG));
            }
        }
    }
}
