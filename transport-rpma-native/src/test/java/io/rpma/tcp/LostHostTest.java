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

import io.rpma.AddressRange;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

/** Tests a host that does not take data any more. */
@Timeout(120)
class LostHostTest {
    /** More than the buffers of both sockets hold. */
    private static final int LENGTH = 16 << 20;
    private static final int RECEIVE_BUFFER = 8 << 10;
    private static final int TIMEOUT_MILLIS = 500;

    /** The kernel reports its error once: here to the call that sends. */
    @Test
    void isReportedAsLostIfTheSenderLearnsIt() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); AddressRange range = station.provider.reserve(LENGTH);
                LocalMemoryRegion region = station.peer.register(range.commit(0, LENGTH), EnumSet.of(MemoryUsage.SEND));
                RawClient client = RawClient.requesting(station.address(), RECEIVE_BUFFER);
                Connection server = station.accept(client)) {
            Station.hold(Adapter.instance()::execute, held);
            try {
                int socket = (int) Station.field(server, "socket");
                assertEquals(0, TcpSockets.setKeepAlive(socket, 30, 10, 3, TIMEOUT_MILLIS));
                server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 1);
                // The socket has failed when it is readable, because the client sends nothing.
                assertNotEquals(0, Sockets.poll(socket, (short) Sockets.EPOLLIN, 60_000));
                server.send(region, 0, 8, CompletionFlag.ALWAYS, 2);
                assertEquals(ConnectionEvent.LOST, server.nextEvent());
            } finally {
                held.countDown();
            }
        }
    }
}
