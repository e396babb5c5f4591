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
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.WorkCompletions;
import java.io.EOFException;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests the memory of a frame that a socket has taken only in part. The application may use the memory of a request for something
 * else as soon as the request has completed, so the rest of its frame must not be sent after that.
 */
@Timeout(120)
class PartialFrameTest {
    /** More than the buffers of both sockets hold. */
    private static final int LENGTH = 16 << 20;
    private static final int RECEIVE_BUFFER = 8 << 10;
    private static final byte BEFORE = 0x11;
    private static final byte AFTER = (byte) 0xee;

    private Station station;
    private AddressRange range;
    private LocalMemoryRegion region;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        range = station.provider.reserve(LENGTH);
        region = station.peer.register(range.commit(0, LENGTH), EnumSet.allOf(MemoryUsage.class));
        region.memory().fill(BEFORE);
    }

    @AfterEach
    void close() throws Exception {
        region.close();
        range.close();
        station.close();
    }

    private RawClient newClient() throws Exception {
        return RawClient.requesting(station.address(), RECEIVE_BUFFER);
    }

    private static byte[] control(int type, int number, int acknowledged, int immediate) {
        return RawClient.frame(type, 0, 0, number, acknowledged, 0, 0, immediate);
    }

    /** Sends a message, and waits until the connection has received it and everything that the client has sent before. */
    private static void send(RawClient client, int number, Connection server) throws Exception {
        client.write(RawClient.frame(Wire.SEND, 0, 0, number, 0, 0, 0, 0));
        WorkCompletions batch = new WorkCompletions(4);
        assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
        assertEquals(7, batch.context(0));
    }

    /** While reading pauses, a connection continues when there is a receive; but not if it has ended. */
    @Test
    void anAnswerThatCannotBeSentEndsAConnectionWhoseReadingPauses() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            client.write(RawClient.frame(Wire.READ, 0, LENGTH, 1, 0, region.address(), Station.key(region), 0));
            send(client, 2, server);
            // A read whose answer has not begun would be refused instead.
            assertEquals(Wire.READ_DATA, client.read(Wire.HEADER)[0]);
            client.write(RawClient.frame(Wire.SEND, Wire.ONCE, 0, 3, 0, 0, 0, 0));
            Receiver receiver = (Receiver) Station.field(Station.field(server, "pair"), "receiver");
            while (!receiver.isPaused()) {
                assertEquals(0, server.completionQueue().poll(new WorkCompletions(1)));
            }
            region.close();
            byte[] piece = new byte[1 << 16];
            while (client.read(piece) >= 0) {
                // The connection continues to send when the socket has room.
            }
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            assertAdapterRests();
        }
    }

    /** Checks that the adapter's thread has nothing more to do at once. */
    private static void assertAdapterRests() throws Exception {
        Adapter adapter = Adapter.instance();
        long start = System.nanoTime();
        boolean busy = true;
        while (busy) {
            assertTrue(System.nanoTime() - start < Station.LONG.toNanos(), "the adapter does not rest");
            CompletableFuture<Boolean> hurry = new CompletableFuture<>();
            adapter.execute(() -> {
                try {
                    hurry.complete((Boolean) Station.field(adapter, "hurry"));
                } catch (ReflectiveOperationException e) {
                    hurry.completeExceptionally(e);
                }
            });
            busy = hurry.get();
        }
    }

    @Test
    void anAcknowledgementOfIncompleteRequestIsAViolation() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            client.write(control(Wire.ACK, 0, 1, 0));
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            WorkCompletions batch = new WorkCompletions(4);
            assertEquals(2, server.completionQueue().poll(batch));
            assertEquals(1, batch.context(0));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(1));
        }
    }

    /** The earlier request has been sent completely. */
    @Test
    void theRequestBeforeAnIncompleteOneCanBeAcknowledged() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            WorkCompletions batch = new WorkCompletions(4);
            server.send(region, 0, 8, CompletionFlag.ALWAYS, 1);
            server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 2);
            client.write(control(Wire.ACK, 0, 1, 0));
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(1, batch.context(0));
            assertEquals(CompletionStatus.SUCCESS, batch.status(0));
            client.write(control(Wire.ACK, 0, 2, 0));
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
        }
    }

    /** A peer without a receive reports it when it has read the header. */
    @Test
    void anIncompleteRequestCanFindNoReceive() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            assertEquals(Wire.SEND, client.read(Wire.HEADER)[0]);
            client.write(control(Wire.NOT_READY, 1, 0, 0));
            send(client, 1, server);
            client.write(control(Wire.RESUME, 1, 0, 0));
            client.read(LENGTH);
            assertEquals(Wire.SEND, client.read(Wire.HEADER)[0]);
            client.read(LENGTH);
            client.write(control(Wire.ACK, 0, 1, 0));
            WorkCompletions batch = new WorkCompletions(4);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.SUCCESS, batch.status(0));
        }
    }

    /** Makes a queue pair fail whose first request has been sent in part. */
    interface Failure {
        void happen(PartialFrameTest test, RawClient client, Connection server) throws Exception;
    }

    static Stream<Named<Failure>> failures() {
        return Stream.of(
            Named.of("the peer refuses the request",
                (test, client, server) -> client.write(control(Wire.NAK, 1, 0, CompletionStatus.REM_INV_REQ_ERR.code()))),
            Named.of("the peer writes with a wrong key", (test, client, server) ->
                client.write(RawClient.frame(Wire.WRITE, 0, 8, 1, 0, test.region.address(), 1, 0, new byte[8]))),
            Named.of("the owner disconnects", (test, client, server) -> server.disconnect()));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void nothingIsSentFromTheMemoryOfAFlushedRequest(Failure failure) throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            failure.happen(this, client, server);
            WorkCompletions batch = new WorkCompletions(4);
            assertNotEquals(0, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(1, batch.context(0));
            assertNotEquals(CompletionStatus.SUCCESS, batch.status(0));
            region.memory().fill(AFTER);
            assertEquals(Wire.SEND, client.read(Wire.HEADER)[0]);
            assertEndsBefore(LENGTH, client);
        }
    }

    private static void assertEndsBefore(long length, RawClient client) throws Exception {
        byte[] piece = new byte[1 << 16];
        long sum = 0;
        for (int count = client.read(piece); count >= 0; count = client.read(piece)) {
            for (int i = 0; i < count; i++) {
                assertEquals(BEFORE, piece[i], "the memory was sent after its request had completed");
            }
            sum += count;
        }
        assertTrue(sum < length, "the whole message was sent");
    }

    /** The answer waits behind a message. The connection notices that it cannot be sent when it sends the end of the message. */
    @Test
    void nothingIsSentFromThatMemoryIfAnAnswerBehindItCannotBeSent() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            server.send(region, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            client.write(RawClient.frame(Wire.READ, 0, 8, 1, 0, station.region.address(), station.key(), 0));
            send(client, 2, server);
            station.region.close();
            assertEquals(Wire.SEND, client.read(Wire.HEADER)[0]);
            WorkCompletions batch = new WorkCompletions(4);
            int left = LENGTH;
            while (server.completionQueue().poll(batch) == 0) {
                client.read(1 << 12);
                left -= 1 << 12;
            }
            assertEquals(1, batch.context(0));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            region.memory().fill(AFTER);
            assertEndsBefore(left, client);
        }
    }

    /** The memory of an answer is that of a region, which the connection does not use any more when closing it has returned. */
    @Test
    void anAnswerIsSentToItsEndAfterAFailure() throws Exception {
        try (RawClient client = newClient(); Connection server = station.accept(client)) {
            long key = Station.key(region);
            client.write(RawClient.frame(Wire.READ, 0, LENGTH, 1, 0, region.address(), key, 0));
            send(client, 2, server);
            server.receive(region, 0, 8, 8);
            client.write(RawClient.frame(Wire.WRITE, 0, 8, 3, 0, region.address(), ~key, 0, new byte[8]));
            WorkCompletions batch = new WorkCompletions(4);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            assertEquals(Wire.READ_DATA, client.read(Wire.HEADER)[0]);
            client.read(LENGTH);
            byte[] refusal = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, refusal[0]);
            assertEquals(3, refusal[8]);
            server.disconnect();
            assertThrows(EOFException.class, () -> client.read(1));
        }
    }
}
