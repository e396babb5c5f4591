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
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import io.rpma.posix.EpollSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests who continues when the send buffer of a socket is full: the owner while it polls, and otherwise the adapter's thread. */
@Timeout(60)
class RoomWatchTest {
    /** More than the send buffer and the receive buffer of a socket. */
    private static final int ALL = 25 << 19;

    private final RoomWatch room = new RoomWatch();
    private final TcpCompletionQueue queue = new TcpCompletionQueue(8, new Alarm(), false, null, () -> { }, null);
    private final WorkCompletions batch = new WorkCompletions(1);

    private boolean isNeeded(boolean isNew, boolean waits) {
        return room.isNeeded(isNew, queue, waits);
    }

    @Test
    void anOwnerThatMayWaitWithoutPollingNeedsTheAdapter() throws Exception {
        assertTrue(isNeeded(true, false));
        queue.poll(batch);
        assertTrue(isNeeded(true, false));
        queue.pollWithoutEvent(batch);
        queue.consumeEvent();
        assertTrue(isNeeded(true, false));
    }

    @Test
    void anOwnerThatPollsNeedsTheAdapterWhenItWaits() throws Exception {
        queue.pollWithoutEvent(batch);
        assertFalse(isNeeded(true, false));
        assertFalse(isNeeded(false, false));
        assertTrue(isNeeded(false, true));
        assertFalse(isNeeded(false, true), "it is watched already");
    }

    @Test
    void aBufferThatIsFilledByTheLastPollNeedsTheAdapter() throws Exception {
        queue.pollWithoutEvent(batch);
        assertTrue(isNeeded(true, true));
    }

    @Test
    void anOwnerThatHasFoundRoomIsAskedAgain() throws Exception {
        queue.pollWithoutEvent(batch);
        assertFalse(isNeeded(true, false));
        // There has been room meanwhile.
        assertFalse(isNeeded(true, false));
        assertTrue(isNeeded(false, true));
        queue.poll(batch);
        assertTrue(isNeeded(true, false));
        assertFalse(isNeeded(false, true), "it is watched already");
    }

    @Test
    void anOwnerThatPostsAfterItsLastPollNeedsTheAdapter() throws Exception {
        queue.pollWithoutEvent(batch);
        queue.consumeEvent();
        queue.pollWithoutEvent(batch);
        assertTrue(isNeeded(true, false));
        queue.pollWithoutEvent(batch);
        assertFalse(isNeeded(true, false));
    }

    /**
     * An owner that polls the shared receive queue executes the reads of the peers of all its connections. It has no reason to
     * poll the queues of their sends before it waits.
     */
    @Test
    void anOwnerThatPollsTheSharedReceiveQueueNeedsTheAdapter() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); AddressRange range = station.provider.reserve(ALL);
                LocalMemoryRegion region = station.peer.register(range.commit(0, ALL), EnumSet.of(MemoryUsage.READ_SRC));
                SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveCompletionQueueSize(8);
                SharedReceiveQueue shared = station.peer.newSharedReceiveQueue(sizes);
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
                RawClient client = RawClient.requesting(station.address(), 8 << 10);
                Connection server = station.endpoint.waitForConnectionRequest(config, Station.LONG).connect(null)) {
            client.establish();
            assertEquals(ConnectionEvent.ESTABLISHED, server.waitForEvent(Station.LONG));
            // From here on, the adapter does not drive the connection.
            Station.hold(Adapter.instance()::execute, held);
            assertEquals(0, server.completionQueue().pollWithoutEvent(batch));
            client.write(RawClient.frame(Wire.READ, 0, ALL, 1, 0, region.address(), Station.key(region), 0));
            QueuePair pair = (QueuePair) Station.field(server, "pair");
            CompletionQueue receives = shared.receiveCompletionQueue();
            while (!pair.isBlocked()) {
                assertTrue(isReadable(receives.fd()), "nothing arrives");
                receives.consumeEvent();
                assertEquals(0, receives.pollWithoutEvent(batch));
            }
            assertEquals(false, Station.field(Station.field(pair, "room"), "deferred"), "nobody watches the socket");
        } finally {
            held.countDown();
        }
    }

    /** The events of both completion queues are consumed by one call. */
    @Test
    void anOwnerThatWaitsForASharedChannelNeedsTheAdapter() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawServer raw = new RawServer();
                ConnectionConfig config = station.provider.newConnectionConfig().sendQueueSize(256).completionQueueSize(256)
                    .receiveCompletionQueueSize(8).sharedCompletionChannel(true);
                ConnectionRequest request = station.peer.newConnectionRequest(raw.address(), config);
                Connection client = request.connect(null)) {
            raw.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            Station.hold(Adapter.instance()::execute, held);
            QueuePair pair = (QueuePair) Station.field(client, "pair");
            assertEquals(0, client.completionQueue().pollWithoutEvent(batch));
            while (!pair.isBlocked()) {
                client.send(station.region, 0, Station.SIZE, CompletionFlag.ON_ERROR, 0);
                assertEquals(0, client.completionQueue().pollWithoutEvent(batch));
            }
            assertEquals(true, Station.field(Station.field(pair, "room"), "deferred"));
            assertNull(client.consumeCompletionEvent());
            assertEquals(0, client.receiveCompletionQueue().pollWithoutEvent(batch));
            assertEquals(0, client.completionQueue().pollWithoutEvent(batch));
            assertEquals(false, Station.field(Station.field(pair, "room"), "deferred"), "nobody watches the socket");
        } finally {
            held.countDown();
        }
    }

    @Test
    void anotherThreadDoesNotPoll() throws Exception {
        queue.pollWithoutEvent(batch);
        assertTrue(CompletableFuture.supplyAsync(() -> isNeeded(true, false)).get(20, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @ValueSource(ints = {64 << 10, 512 << 10})
    void anOwnerThatWaitsIsNotified(int bytes) throws Exception {
        sendAll(bytes, client -> {
            client.completionQueue().consumeEvent();
            while (client.completionQueue().pollWithoutEvent(batch) == 0) {
                assertTrue(isReadable(client.completionQueue().fd()), "nothing happens");
                client.completionQueue().consumeEvent();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {64 << 10, 512 << 10})
    void anOwnerThatDoesNotPollAnyMoreIsReplaced(int bytes) throws Exception {
        sendAll(bytes, client -> { });
    }

    /** Waits until the descriptor of a completion queue, which is an epoll set, is readable. */
    private static boolean isReadable(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            return EpollSet.await(fd, arena.allocate(EpollSet.EVENT_BYTES, 8).address(), 1, 20_000) == 1;
        }
    }

    /** What the owner of a connection does until the last message has been sent. */
    private interface Owner {
        void run(Connection client) throws Exception;
    }

    /** Fills the send buffer while the owner polls, and then lets the other side read everything. */
    private void sendAll(int bytes, Owner owner) throws Exception {
        int messages = ALL / bytes;
        Station station = new Station();
        try (RawServer raw = new RawServer();
                ConnectionConfig config = station.provider.newConnectionConfig().sendQueueSize(256).completionQueueSize(256);
                ConnectionRequest request = station.peer.newConnectionRequest(raw.address(), config);
                Connection client = request.connect(null)) {
            raw.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            assertEquals(0, client.completionQueue().pollWithoutEvent(batch));
            for (int i = 1; i <= messages; i++) {
                CompletionFlag flag = i < messages ? CompletionFlag.ON_ERROR : CompletionFlag.ALWAYS;
                client.send(station.region, 0, bytes, flag, i);
                assertEquals(0, client.completionQueue().pollWithoutEvent(batch));
            }
            CompletableFuture<byte[]> all = CompletableFuture.supplyAsync(() -> {
                try {
                    return raw.read(Wire.HEADER + messages * (Wire.HEADER + bytes));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            owner.run(client);
            all.get(20, TimeUnit.SECONDS);
            if (batch.context(0) != messages) {
                assertEquals(1, client.completionQueue().poll(batch, Station.LONG));
            }
            assertEquals(messages, batch.context(0));
        } finally {
            station.close();
        }
    }
}
