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
import io.rpma.ConnectionEvent;
import io.rpma.posix.CFunction;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that the sockets of all connections detect a host that has failed, send small data at once, and have a send buffer
 * that suits the distance.
 */
@Timeout(120)
class SocketOptionsTest {
    private static final CFunction GETSOCKOPT = CFunction.of("getsockopt", 5);
    private static final int SOL_SOCKET = 1;
    private static final int IPPROTO_TCP = 6;

    private static int option(Connection connection, int level, int option) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            long value = arena.allocate(8, 4).address();
            Memory.putInt(value + 4, 4);
            assertEquals(0, GETSOCKOPT.call((int) Station.field(connection, "socket"), level, option, value, value + 4));
            return Memory.getInt(value);
        }
    }

    private static void check(Connection connection) throws Exception {
        assertEquals(1, option(connection, IPPROTO_TCP, 1), "TCP_NODELAY");
        assertEquals(1, option(connection, SOL_SOCKET, 9), "SO_KEEPALIVE");
        assertEquals(30, option(connection, IPPROTO_TCP, 4), "TCP_KEEPIDLE");
        assertEquals(10, option(connection, IPPROTO_TCP, 5), "TCP_KEEPINTVL");
        assertEquals(3, option(connection, IPPROTO_TCP, 6), "TCP_KEEPCNT");
        assertEquals(60_000, option(connection, IPPROTO_TCP, 18), "TCP_USER_TIMEOUT");
    }

    private static void checkBothEnds(Station station, InetSocketAddress address) throws Exception {
        try (var request = station.request(address); Connection client = request.connect(null);
                Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            check(client);
            check(server);
            assertEquals(local(), sendBuffer(client));
            assertEquals(local(), sendBuffer(server));
        }
    }

    private static int sendBuffer(Connection connection) throws Exception {
        return option(connection, SOL_SOCKET, 7);
    }

    /** Returns the size of the send buffer of a connection within this host, which a system may limit further. */
    private static int local() throws Exception {
        Path limit = Path.of("/proc/sys/net/core/wmem_max");
        return 2 * Math.min(128 << 10, Files.exists(limit) ? Integer.parseInt(Files.readAllLines(limit).getFirst()) : 128 << 10);
    }

    /** Returns what the process of another host would send. */
    private static Greeting fromAfar(Greeting own) {
        byte[] host = own.host().clone();
        host[0]++;
        return new Greeting(own.lowest(), own.highest(), own.size(), own.reads(), own.maxMessage(), host, own.process());
    }

    /** Between hosts, the kernel adapts the send buffer to the distance, which a fixed size would prevent. */
    @Test
    void sendBufferOfAConnectionToAnotherHostIsNotLimited() throws Exception {
        try (Station station = new Station()) {
            try (RawServer server = new RawServer(fromAfar(Greeting.own()));
                    Connection client = station.request(server.address()).connect(null)) {
                server.accept();
                assertTrue(sendBuffer(client) > local());
            }
            try (RawClient client = RawClient.connect(station.address())) {
                client.read(Greeting.SIZE);
                client.write(fromAfar(Greeting.request(Greeting.VERSION)).write());
                try (Connection server = station.accept()) {
                    assertTrue(sendBuffer(server) > local());
                }
            }
        }
    }

    @Test
    void areThoseOfTheListener() throws Exception {
        try (Station station = new Station()) {
            checkBothEnds(station, station.address());
        }
    }

    @Test
    void areSetForASocketOfAnotherListener() throws Exception {
        int listener = Sockets.socket(Sockets.AF_INET, Sockets.SOCK_STREAM);
        try (Station station = new Station()) {
            assertEquals(0, Sockets.bind(listener, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
            assertEquals(0, Sockets.listen(listener, 1));
            Thread.ofPlatform().daemon().start(() -> ((TcpEndpoint) station.endpoint).adopt(Sockets.accept(listener)));
            checkBothEnds(station, TcpSockets.localAddress(listener));
        } finally {
            Posix.close(listener);
        }
    }
}
