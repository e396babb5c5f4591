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

import io.rpma.CompletionFlag;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.WorkCompletions;
import io.rpma.posix.Sockets;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests that each flush to persistence is answered with the result of its own {@code msync}. */
@Timeout(120)
class PersistentFlushTest {
    private static final int PAGE = 4096;
    /** Nothing can be mapped at this address, so msync fails. */
    private static final long NEVER_MAPPED = 0x1000;

    /** Sends a request, and makes the server read it. */
    private static void request(RawClient client, Connection server, int number, long address, long key) throws Exception {
        client.write(RawClient.frame(Wire.FLUSH_PERSISTENT, Wire.WANTED, PAGE, number, 0, address, key, 0));
        assertEquals(1, Sockets.poll(server.completionQueue().fd(), (short) Sockets.EPOLLIN, (int) Station.LONG.toMillis()));
        server.completionQueue().poll(new WorkCompletions(1));
    }

    /** The adapter serves all connections of the process, and msync may take long. */
    @Test
    void theAdapterIsNotNeeded() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawClient client = RawClient.requesting(station.address());
                Connection server = station.accept(client)) {
            Station.hold(Adapter.instance()::execute, held);
            try {
                request(client, server, 1, station.region.address(), station.key());
                byte[] answer = client.read(Wire.HEADER);
                assertEquals(Wire.PERSISTED, answer[0]);
                assertEquals(1, answer[8], "its number");
            } finally {
                held.countDown();
            }
        }
    }

    /** The second flush arrives while the first one is being executed. */
    @Test
    void theResultOfOneIsNotThatOfTheNext() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawClient client = RawClient.requesting(station.address());
                LocalMemoryRegion unmapped = station.peer.register(MemorySegment.ofAddress(NEVER_MAPPED).reinterpret(PAGE),
                    EnumSet.of(MemoryUsage.FLUSH_PERSISTENT));
                Connection server = station.accept(client)) {
            // From here on, the adapter does not read incoming data, and no flush is executed.
            Station.hold(Adapter.instance()::execute, held);
            Station.hold(PersistentFlushes.THREAD, held);
            try {
                request(client, server, 1, station.region.address(), station.key());
                request(client, server, 2, NEVER_MAPPED, Station.key(unmapped));
            } finally {
                held.countDown();
            }
            byte[] first = client.read(Wire.HEADER);
            assertEquals(Wire.PERSISTED, first[0]);
            assertEquals(1, first[8], "its number");
            byte[] second = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, second[0]);
            assertEquals(2, second[8], "its number");
            assertEquals(CompletionStatus.REM_OP_ERR.code(), status(second));
        }
    }

    private static int status(byte[] refusal) {
        return ByteBuffer.wrap(refusal).order(ByteOrder.LITTLE_ENDIAN).getInt(32);
    }

    /** Another request is refused while the flush is being executed, which then fails. It is the first one that has failed. */
    @Test
    void theResultOfOneComesBeforeALaterRefusal() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawClient client = RawClient.requesting(station.address());
                LocalMemoryRegion unmapped = station.peer.register(MemorySegment.ofAddress(NEVER_MAPPED).reinterpret(PAGE),
                    EnumSet.of(MemoryUsage.FLUSH_PERSISTENT));
                Connection server = station.accept(client)) {
            Station.hold(PersistentFlushes.THREAD, held);
            try {
                client.write(RawClient.frame(Wire.FLUSH_PERSISTENT, 0, PAGE, 1, 0, NEVER_MAPPED, Station.key(unmapped), 0));
                client.write(RawClient.frame(Wire.ATOMIC_WRITE, 0, 8, 2, 0, NEVER_MAPPED, station.key(), 0));
                WorkCompletions batch = new WorkCompletions(1);
                assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
                assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            } finally {
                held.countDown();
            }
            byte[] refusal = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, refusal[0]);
            assertEquals(1, refusal[8], "its number");
            assertEquals(0, refusal[12], "the number that is acknowledged");
            assertEquals(CompletionStatus.REM_OP_ERR.code(), status(refusal));
        }
    }

    /** Sends a flush and then a message, and waits until the message has been received. */
    private static void flushThenSend(RawClient client, Connection server, Station station) throws Exception {
        client.write(RawClient.frame(Wire.FLUSH_PERSISTENT, 0, PAGE, 1, 0, station.region.address(), station.key(), 0));
        client.write(RawClient.frame(Wire.SEND, Wire.WANTED, 0, 2, 0, 0, 0, 0));
        WorkCompletions batch = new WorkCompletions(1);
        assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
        assertEquals(CompletionStatus.SUCCESS, batch.status(0));
    }

    /** Its answer is still sent, and the requests behind it are refused afterwards. */
    @Test
    void aFlushContinuesIfItsQueuePairFails() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawClient client = RawClient.requesting(station.address());
                Connection server = station.accept(client)) {
            Station.hold(PersistentFlushes.THREAD, held);
            try {
                flushThenSend(client, server, station);
                // Its end is outside the region.
                server.send(station.region, Station.SIZE - 4, 8, CompletionFlag.ALWAYS, 1);
                WorkCompletions batch = new WorkCompletions(1);
                assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
                assertEquals(CompletionStatus.LOC_PROT_ERR, batch.status(0));
                client.write(RawClient.frame(Wire.SEND, 0, 0, 3, 0, 0, 0, 0));
            } finally {
                held.countDown();
            }
            byte[] answer = client.read(Wire.HEADER);
            assertEquals(Wire.PERSISTED, answer[0]);
            assertEquals(1, answer[8], "its number");
            byte[] refusal = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, refusal[0]);
            assertEquals(3, refusal[8], "its number");
            assertEquals(CompletionStatus.RETRY_EXC_ERR.code(), status(refusal));
        }
    }

    /** The message behind the flush has been executed, and is acknowledged only together with the flush. */
    @Test
    void aFlushThatIsNotAnsweredIsNotAcknowledged() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        try (Station station = new Station(); RawClient client = RawClient.requesting(station.address());
                Connection server = station.accept(client)) {
            Station.hold(PersistentFlushes.THREAD, held);
            try {
                flushThenSend(client, server, station);
                server.disconnect();
                assertEquals(-1, client.next(), "the type of a frame");
            } finally {
                held.countDown();
            }
        }
    }
}
