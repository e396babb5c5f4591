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
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

/** Tests the end of a connection that takes its receives from a shared receive queue, which other connections need. */
@Timeout(120)
class DisconnectBeforeCloseTest {
    private static final int BYTES = 8;

    private static byte[] message(int number) {
        return RawClient.frame(Wire.SEND, 0, BYTES, number, 0, 0, 0, 0, new byte[BYTES]);
    }

    /** Polls until nothing is found. Returns the number of completions. */
    private static int pollAll(Connection connection) throws RpmaException {
        WorkCompletions batch = new WorkCompletions(1);
        int count = 0;
        while (connection.completionQueue().poll(batch) > 0) {
            count++;
        }
        return count;
    }

    /**
     * The adapter's thread receives messages while another thread disconnects before it closes. That thread then finds every
     * message that has taken a receive, so that it can post the receive again.
     */
    @Test
    void noMessageCompletesAfterTheDisconnect() throws Exception {
        try (Station station = new Station(); SharedReceiveQueueConfig config = station.provider.newSharedReceiveQueueConfig();
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(
                    config.receiveQueueSize(2).receiveCompletionQueueSize(0));
                RawClient client = RawClient.requesting(station.address(), 1 << 16);
                Connection server = accept(station, queue)) {
            queue.receive(station.region, 0, BYTES, 1);
            queue.receive(station.region, BYTES, BYTES, 2);
            client.establish();
            assertEquals(ConnectionEvent.ESTABLISHED, server.waitForEvent(Station.LONG));
            FutureTask<Void> disconnected = new FutureTask<>(() -> {
                server.disconnectBeforeClose();
                return null;
            });
            Thread closing = new Thread(disconnected);
            // The thread that receives the first message waits for this lock to cause the event of the queue.
            synchronized (((TcpCompletionQueue) server.completionQueue()).alarm()) {
                client.write(message(1));
                while (adapter().getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                client.write(message(2));
                closing.start();
                while (!disconnected.isDone() && closing.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
                assertFalse(disconnected.isDone(), "another thread receives a message");
            }
            disconnected.get(Station.LONG.toSeconds(), TimeUnit.SECONDS);
            assertEquals(2, pollAll(server));
        }
    }

    private static Thread adapter() {
        return Thread.getAllStackTraces().keySet().stream().filter(each -> each.getName().equals("rpma-tcp")).findAny()
            .orElseThrow();
    }

    private static Connection accept(Station station, SharedReceiveQueue queue) throws Exception {
        try (ConnectionConfig config = station.provider.newConnectionConfig().completionQueueSize(64).sharedReceiveQueue(queue)) {
            ConnectionRequest request = station.endpoint.waitForConnectionRequest(config, Station.LONG);
            assertNotNull(request, "no request");
            return request.connect(null);
        }
    }
}
