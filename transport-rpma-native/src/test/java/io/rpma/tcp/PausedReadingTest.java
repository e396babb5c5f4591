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
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import io.rpma.posix.Sockets;
import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the end of connections whose reading is paused, because there is no receive for a message that is not sent again. */
@Timeout(120)
class PausedReadingTest {
    private static final int WINDOW_MILLIS = 500;
    private static final int WINDOWS = 5;
    private static final long MOST_CPU_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private Station station;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    private static byte[] message(int number, int flags) {
        return RawClient.frame(Wire.SEND, flags, 1, number, 0, 0, 0, 0, (byte) number);
    }

    /** Uses up the receive of a connection, and sends a message that pauses its reading. Its owner does not poll. */
    private static void pause(RawClient client) throws Exception {
        client.write(message(1, Wire.WANTED));
        assertEquals(Wire.ACK, client.read(Wire.HEADER)[0]);
        client.write(message(2, Wire.ONCE));
    }

    /**
     * Checks that the adapter's thread sleeps for most of a time in which a connection has no event. Its code may still be
     * loaded and interpreted in the first window, on a busy machine; a thread that does not sleep is busy in all of them.
     */
    private static void assertAdapterSleeps(Connection connection) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < WINDOWS && least >= MOST_CPU_NANOS; i++) {
            long before = cpuNanosOfAdapter();
            assertEquals(0, Sockets.poll(connection.eventFd(), (short) Sockets.EPOLLIN, WINDOW_MILLIS), "an event");
            least = Math.min(least, cpuNanosOfAdapter() - before);
        }
        assertTrue(least < MOST_CPU_NANOS, "the adapter's thread ran for " + least + " ns of each " + WINDOW_MILLIS + " ms");
    }

    private static long cpuNanosOfAdapter() {
        Thread adapter = Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("rpma-tcp"))
            .findFirst().orElseThrow();
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(adapter.threadId());
    }

    /** An owner that uses only one-sided operations does not poll, and waits for events. */
    @Test
    void connectionsEndAlthoughTheirMessagesHaveNoReceive() throws Exception {
        try (RawClient one = RawClient.requesting(station.address()); Connection ended = station.accept(one);
                RawClient two = RawClient.requesting(station.address()); Connection reset = station.accept(two)) {
            pause(one);
            pause(two);
            one.hangUp();
            two.reset();
            assertAdapterSleeps(ended);
            assertEquals(ConnectionEvent.CLOSED, ended.waitForEvent(Station.LONG));
            assertEquals(ConnectionEvent.CLOSED, reset.waitForEvent(Station.LONG));
            // A receive for the message comes too late. It is flushed like those of any other connection that has ended.
            for (Connection connection : new Connection[] {ended, reset}) {
                WorkCompletions batch = new WorkCompletions(2);
                assertEquals(1, connection.completionQueue().poll(batch));
                assertEquals(CompletionStatus.SUCCESS, batch.status(0));
                connection.receive(station.region, 0, 64, 8);
                assertEquals(0, connection.completionQueue().poll(batch));
                connection.disconnect();
                assertEquals(1, connection.completionQueue().poll(batch, Station.LONG));
                assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            }
            assertAdapterSleeps(ended);
        }
    }

    /** The adapter's thread does not drive a connection whose owner polls. */
    @Test
    void aConnectionEndsWhoseOwnerPolls() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            pause(client);
            WorkCompletions batch = new WorkCompletions(2);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            client.hangUp();
            long deadline = System.nanoTime() + Station.LONG.toNanos();
            while (Sockets.poll(server.eventFd(), (short) Sockets.EPOLLIN, 0) == 0) {
                assertEquals(0, server.completionQueue().poll(batch));
                assertTrue(System.nanoTime() - deadline < 0, "no event");
            }
            assertEquals(ConnectionEvent.CLOSED, server.nextEvent());
        }
    }

    /** A thread that waits for completions would be woken by data that it cannot read. */
    @Test
    void unreadDataWakesNobody() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            pauseWithUnreadData(client, server, server.completionQueue());
            server.receive(station.region, 0, 64, 2);
            server.receive(station.region, 0, 64, 3);
            assertReceives(2, server.completionQueue());
            assertReceives(3, server.completionQueue());
        }
    }

    /** Other connections of the shared receive queue have no receive either. */
    @Test
    void unreadDataWakesNobodyWhoWaitsForSharedReceives() throws Exception {
        try (SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveCompletionQueueSize(64);
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(sizes);
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(queue);
                RawClient client = RawClient.requesting(station.address());
                Connection server = station.endpoint.waitForConnectionRequest(config, Station.LONG).connect(null)) {
            client.establish();
            assertEquals(ConnectionEvent.ESTABLISHED, server.waitForEvent(Station.LONG));
            queue.receive(station.region, 0, 64, 1);
            pauseWithUnreadData(client, server, queue.receiveCompletionQueue());
            queue.receive(station.region, 0, 64, 2);
            queue.receive(station.region, 0, 64, 3);
            assertReceives(2, queue.receiveCompletionQueue());
            assertReceives(3, queue.receiveCompletionQueue());
            // This message would have to be sent again if it arrived before the receive.
            queue.receive(station.region, 0, 64, 4);
            client.write(message(4, Wire.WANTED));
            assertReceives(4, queue.receiveCompletionQueue());
            client.hangUp();
            assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
        }
    }

    private static void pauseWithUnreadData(RawClient client, Connection server, CompletionQueue queue) throws Exception {
        pause(client);
        WorkCompletions batch = new WorkCompletions(1);
        assertEquals(1, queue.poll(batch, Station.LONG));
        Receiver receiver = (Receiver) Station.field(Station.field(server, "pair"), "receiver");
        while (!receiver.isPaused()) {
            assertEquals(0, queue.poll(batch));
        }
        client.write(message(3, Wire.ONCE));
        // The thread that has paused reading may be about to end the watch of the socket.
        while (queue.consumeEvent() || Sockets.poll(queue.fd(), (short) Sockets.EPOLLIN, 0) != 0) {
            assertEquals(0, queue.poll(batch));
        }
        assertEquals(0, Sockets.poll(queue.fd(), (short) Sockets.EPOLLIN, WINDOW_MILLIS), "the descriptor is readable");
    }

    private static void assertReceives(long context, CompletionQueue queue) throws Exception {
        WorkCompletions batch = new WorkCompletions(1);
        assertEquals(1, queue.poll(batch, Station.LONG));
        assertEquals(CompletionStatus.SUCCESS, batch.status(0));
        assertEquals(context, batch.context(0));
    }

    /** A connection may also break while its reading is paused, because its sending fails. */
    @Test
    void aConnectionThatHasBrokenNeedsTheAdapterNoMore() throws Exception {
        int length = 16 << 20;
        AddressRange range = station.provider.reserve(length);
        LocalMemoryRegion region = station.peer.register(range.commit(0, length), EnumSet.of(MemoryUsage.READ_SRC));
        try (RawClient client = RawClient.requesting(station.address(), 8 << 10); Connection server = station.accept(client)) {
            // The answer is longer than the buffers of both sockets.
            client.write(RawClient.frame(Wire.READ, 0, length, 1, 0, region.address(), Station.key(region), 0));
            assertEquals(Wire.READ_DATA, client.read(Wire.HEADER)[0]);
            client.write(message(2, Wire.ONCE));
            client.write(message(3, Wire.ONCE));
            assertEquals(1, server.completionQueue().poll(new WorkCompletions(1), Station.LONG));
            Receiver receiver = (Receiver) Station.field(Station.field(server, "pair"), "receiver");
            while (!receiver.isPaused()) {
                assertEquals(0, server.completionQueue().poll(new WorkCompletions(1)));
            }
            region.close();
            // When there is room in the socket again, the connection notices it.
            byte[] piece = new byte[1 << 16];
            int count;
            do {
                count = client.read(piece);
            } while (count >= 0);
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            assertAdapterSleeps(server);
            assertNull(server.nextEvent());
        } finally {
            region.close();
            range.close();
        }
    }
}
