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
import io.rpma.posix.EpollSet;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.OpenFileLimit;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests listeners and connections whose descriptors cannot be added to an epoll set, as when the user has no watches left
 * (fs.epoll.max_user_watches). Here the set contains the descriptor already, without events.
 */
@Timeout(120)
class WatchLimitTest {
    private static final int ENOSPC = 28;
    private static final int EEXIST = 17;
    private static final int NO_SOCKET = -1;

    private Station station;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    /** Has the set refuse a descriptor from now on. It wakes nobody. */
    private static void occupy(int set, int fd) {
        assertEquals(0, EpollSet.add(set, fd, EpollSet.ONCE, 0));
    }

    private static int adapterSet() throws Exception {
        return (int) Station.field(Adapter.instance(), "set");
    }

    @Test
    void theErrorNamesTheLimit() {
        assertEquals("it failed: No space left on device; the limit of descriptors in all epoll sets of the user is in"
            + " /proc/sys/fs/epoll/max_user_watches: raise it (sysctl fs.epoll.max_user_watches), or close connections",
            OpenFileLimit.text(ENOSPC, "it failed"));
    }

    // ---- listeners

    @Test
    void aListenerThatCannotBeWatchedIsNotCreated() {
        int set = Sockets.epollCreate();
        int listener = Posix.eventfd(0);
        try {
            occupy(set, listener);
            RpmaException failure = assertThrows(RpmaException.class,
                () -> new Acceptor(station.address(), listener, set, new Alarm()));
            assertEquals("the listener at " + station.address() + " cannot be watched: File exists", failure.getMessage());
        } finally {
            Posix.close(listener);
            Posix.close(set);
        }
    }

    @Test
    void aListenerWhoseClientsCannotBeWatchedIsNotCreated() throws Exception {
        int set = Sockets.epollCreate();
        Acceptor acceptor = new Acceptor(station.address(), Acceptor.NO_LISTENER, set, new Alarm());
        try {
            occupy(adapterSet(), set);
            RpmaException failure = assertThrows(RpmaException.class, () -> Adapter.instance().add(acceptor));
            assertEquals("the clients of a listener cannot be watched: File exists", failure.getMessage());
        } finally {
            acceptor.close();
        }
        station.serves();
    }

    @Test
    void aListenerAcceptsAgainAlthoughNothingCanBeAdded() throws Exception {
        Acceptor acceptor = (Acceptor) Station.field(station.endpoint, "acceptor");
        synchronized (acceptor) {
            Method pause = Acceptor.class.getDeclaredMethod("pause");
            pause.setAccessible(true);
            pause.invoke(acceptor);
            // Fails if the set contains the listening socket all the time.
            EpollSet.add(acceptor.set(), (int) Station.field(acceptor, "listener"), 0, 0);
            assertNull(acceptor.next());
        }
        station.serves();
    }

    /** Such a client is not greeted, and the thread that takes requests learns why. */
    @Test
    void aClientThatCannotBeWatchedIsDisconnected() throws Exception {
        int listener = TcpLog.LISTENING.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1, SocketOptions::set);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Sockets.localPort(listener));
        Acceptor acceptor = new Acceptor(address, Acceptor.NO_LISTENER, Sockets.epollCreate(), new Alarm().made());
        try (RawClient client = RawClient.connect(address)) {
            int fd = Sockets.accept(listener);
            occupy(acceptor.set(), fd);
            acceptor.adopt(fd);
            assertEquals(-1, client.next());
            assertEquals(0, acceptor.clientCount());
            assertTrue(acceptor.hasDeadline());
            assertEquals(EEXIST, acceptor.takeShortage());
        } finally {
            acceptor.close();
            Posix.close(listener);
        }
    }

    // ---- connections

    private static byte[] message(int number, int flags) {
        return RawClient.frame(Wire.SEND, flags, 1, number, 0, 0, 0, 0, (byte) number);
    }

    /** Accepts a client whose socket the adapter cannot watch, and waits until it has tried. */
    private Connection acceptUnwatched(RawClient client) throws Exception {
        Acceptor acceptor = (Acceptor) Station.field(station.endpoint, "acceptor");
        while (!acceptor.hasNext()) {
            Thread.onSpinWait();
        }
        CountDownLatch held = new CountDownLatch(1);
        Station.hold(Adapter.instance()::execute, held);
        Connection server;
        try {
            server = station.accept(client);
            occupy(adapterSet(), (int) Station.field(server, "socket"));
        } finally {
            held.countDown();
        }
        awaitWatch(server, false);
        return server;
    }

    private static void awaitWatch(Connection server, boolean isWatched) throws Exception {
        Object place = Station.field(Station.field(server, "pair"), "place");
        while (((int) Station.field(place, "unwatched") == NO_SOCKET) != isWatched) {
            Thread.onSpinWait();
        }
    }

    @Test
    void theAdapterServesAConnectionThatItCannotWatch() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = acceptUnwatched(client)) {
            for (int i = 1; i <= 3; i++) {
                client.write(RawClient.frame(Wire.READ, 0, 8, i, 0, station.region.address(), station.key(), 0));
                assertEquals(Wire.READ_DATA, client.read(Wire.HEADER + 8)[0]);
            }
            // As soon as there is room, the socket is watched.
            EpollSet.remove(adapterSet(), (int) Station.field(server, "socket"));
            awaitWatch(server, true);
            client.write(RawClient.frame(Wire.READ, 0, 8, 4, 0, station.region.address(), station.key(), 0));
            assertEquals(Wire.READ_DATA, client.read(Wire.HEADER + 8)[0]);
        }
    }

    /** Reading does not find the end, because it is paused for lack of a receive. */
    @Test
    void theAdapterFindsTheEndOfAConnectionThatItCannotWatch() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = acceptUnwatched(client)) {
            client.write(message(1, Wire.WANTED));
            assertEquals(Wire.ACK, client.read(Wire.HEADER)[0]);
            client.write(message(2, Wire.ONCE));
            client.hangUp();
            assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
        }
    }

    /** The adapter does not drive a connection whose owner polls. */
    @Test
    void aThreadThatPollsFindsTheDataOfAMemberThatIsNotWatched() throws Exception {
        try (SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveCompletionQueueSize(8);
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(sizes);
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(queue);
                RawClient client = RawClient.requesting(station.address())) {
            ConnectionRequest request = station.endpoint.waitForConnectionRequest(config, Station.LONG);
            assertNotNull(request, "no request");
            occupy(queue.receiveCompletionQueue().fd(), (int) Station.field(request, "socket"));
            CountDownLatch held = new CountDownLatch(1);
            Station.hold(Adapter.instance()::execute, held);
            try (Connection server = request.connect(null)) {
                client.establish();
                queue.receive(station.region, 0, 64, 7);
                assertEquals(ConnectionEvent.ESTABLISHED, server.waitForEvent(Station.LONG));
                client.write(message(1, Wire.WANTED));
                WorkCompletions batch = new WorkCompletions(1);
                long deadline = System.nanoTime() + Station.LONG.toNanos();
                while (queue.receiveCompletionQueue().poll(batch) == 0) {
                    assertEquals(0, server.completionQueue().poll(batch));
                    assertTrue(System.nanoTime() - deadline < 0, "no message");
                }
                assertEquals(7, batch.context(0));
            } finally {
                held.countDown();
            }
        }
    }
}
