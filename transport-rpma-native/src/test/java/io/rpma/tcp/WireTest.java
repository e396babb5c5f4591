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
import io.rpma.ConnectionEvent;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how a listener and a connection handle a client that does not belong to this provider. */
@Timeout(120)
class WireTest {
    private Station station;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    @Test
    void theListenerGreetsFirst() throws Exception {
        try (RawClient client = RawClient.connect(station.address())) {
            byte[] bytes = client.read(Greeting.SIZE);
            assertArrayEquals(Greeting.MAGIC, Arrays.copyOf(bytes, Greeting.MAGIC.length));
            Greeting greeting = Greeting.read(bytes);
            assertNotNull(greeting);
            assertTrue(greeting.isUnderstood());
            assertArrayEquals(Greeting.own().host(), greeting.host());
            assertArrayEquals(Greeting.own().process(), greeting.process());
        }
    }

    @Test
    void aRequestOfSomethingElseEndsItsConnectionAtTheFirstByte() throws Exception {
        try (RawClient client = RawClient.connect(station.address())) {
            client.read(Greeting.SIZE);
            client.write("GET / HTTP/1.1\r\n".getBytes(US_ASCII));
            assertEnds(client);
        }
        station.serves();
    }

    @Test
    void aRequestOfAnotherVersionIsRejectedInWords() throws Exception {
        try (RawClient client = RawClient.connect(station.address())) {
            client.read(Greeting.SIZE);
            byte[] request = RawClient.request();
            request[8] = 3;
            request[10] = 3;
            client.write(request);
            assertEquals(Wire.REJECT, client.read(Wire.HEADER)[0]);
        }
        station.serves();
    }

    @Test
    void aRequestMayBeCutShortAtEveryByte() throws Exception {
        byte[] request = RawClient.request();
        for (int length = 0; length < request.length; length++) {
            try (RawClient client = RawClient.connect(station.address())) {
                client.read(Greeting.SIZE);
                client.write(request, length);
            }
        }
        station.serves();
    }

    @Test
    void aFrameMayBeCutShortAtEveryByte() throws Exception {
        byte[] frame = RawClient.frame(Wire.SEND, 0, 8, 1, 0, 0, 0, 0, new byte[8]);
        for (int length = 0; length < frame.length; length++) {
            try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
                client.write(frame, length);
                client.hangUp();
                assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
                WorkCompletions batch = new WorkCompletions(2);
                assertEquals(0, server.completionQueue().poll(batch));
                server.disconnect();
                assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
                assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
                assertEquals(7, batch.context(0));
            }
        }
    }

    @Test
    void aFrameMayComeByteByByte() throws Exception {
        byte[] frame = RawClient.frame(Wire.SEND, 1, 8, 1, 0, 0, 0, 42, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            WorkCompletions batch = new WorkCompletions(2);
            for (byte one : frame) {
                assertEquals(0, server.completionQueue().poll(batch));
                client.write(new byte[] {one});
            }
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(42, batch.immediate(0));
            assertEquals(0x0807060504030201L, station.region.memory().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    static Stream<Named<byte[]>> violations() {
        byte[] reserved = RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0);
        reserved[2] = 1;
        byte[] alsoReserved = RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0);
        alsoReserved[36] = 1;
        return Stream.of(
            Named.of("noise", "what is this? it is no frame, and long enough".getBytes(US_ASCII)),
            Named.of("type 0", RawClient.frame(0, 0, 0, 1, 0, 0, 0, 0)),
            Named.of("type 17", RawClient.frame(17, 0, 0, 1, 0, 0, 0, 0)),
            Named.of("acceptance", RawClient.frame(Wire.ACCEPT, 0, 0, 1, 0, 0, 0, 0)),
            Named.of("second agreement", RawClient.frame(Wire.READY, 0, 0, 0, 0, 0, 0, 0)),
            Named.of("reserved bytes", reserved),
            Named.of("other reserved bytes", alsoReserved),
            Named.of("negative length", RawClient.frame(Wire.SEND, 0, -1, 1, 0, 0, 0, 0)),
            Named.of("too long", RawClient.frame(Wire.WRITE, 0, (1 << 30) + 1, 1, 0, 0, 0, 0)),
            Named.of("number 0", RawClient.frame(Wire.SEND, 0, 0, 0, 0, 0, 0, 0)),
            Named.of("number left out", RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0)),
            Named.of("acknowledgement of nothing", RawClient.frame(Wire.ACK, 0, 0, 0, 1, 0, 0, 0)),
            Named.of("refusal of nothing", RawClient.frame(Wire.NAK, 0, 0, 1, 0, 0, 0, 10)),
            Named.of("refusal by success", RawClient.frame(Wire.NAK, 0, 0, 0, 0, 0, 0, 0)),
            Named.of("data that was not requested", RawClient.frame(Wire.READ_DATA, 0, 8, 1, 0, 0, 0, 0, new byte[8])),
            Named.of("result of a flush that was not requested", RawClient.frame(Wire.PERSISTED, 0, 0, 1, 0, 0, 0, 0)),
            Named.of("not ready for nothing", RawClient.frame(Wire.NOT_READY, 0, 0, 1, 0, 0, 0, 0)),
            Named.of("ready for nothing", RawClient.frame(Wire.RESUME, 0, 0, 1, 0, 0, 0, 0)));
    }

    @ParameterizedTest
    @MethodSource("violations")
    void aViolationEndsThatConnectionAlone(byte[] frame) throws Exception {
        try (RawClient other = RawClient.requesting(station.address()); Connection spared = station.accept(other);
                RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            client.write(frame);
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
            assertEnds(client);
            other.write(RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0));
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, spared.completionQueue().poll(batch, Station.LONG));
            assertEquals(0, batch.statusCode(0));
        }
    }

    /** Creates a frame that accesses memory, for a request with the number 1. */
    interface Reach {
        byte[] frame(long address, long key);
    }

    static Stream<Named<Reach>> forbidden() {
        int size = Station.SIZE;
        return Stream.of(
            Named.of("wrong key", (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, address, key + 1, 0, new byte[8])),
            Named.of("key with upper bits",
                (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, address, key | 1L << 32, 0, new byte[8])),
            Named.of("before the region",
                (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, address - 1, key, 0, new byte[8])),
            Named.of("past the region",
                (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, address + size - 7, key, 0, new byte[8])),
            Named.of("address 0", (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, 0, key, 0, new byte[8])),
            Named.of("last address",
                (address, key) -> RawClient.frame(Wire.WRITE, 0, 8, 1, 0, -1, key, 0, new byte[8])),
            Named.of("atomic write past the region",
                (address, key) -> RawClient.frame(Wire.ATOMIC_WRITE, 0, 8, 1, 0, address + size - 7, key, 0)),
            Named.of("read past the region",
                (address, key) -> RawClient.frame(Wire.READ, 0, 8, 1, 0, address + size - 7, key, 0)),
            Named.of("read of a wrong key", (address, key) -> RawClient.frame(Wire.READ, 0, 8, 1, 0, address, ~key, 0)),
            Named.of("flush past the region",
                (address, key) -> RawClient.frame(Wire.FLUSH, 0, 8, 1, 0, address + size - 7, key, 0)),
            Named.of("endless flush", (address, key) -> RawClient.frame(Wire.FLUSH, 0, -1, 1, 0, address, key, -1)));
    }

    @ParameterizedTest
    @MethodSource("forbidden")
    void whatWasNotRegisteredIsNotReached(Reach reach) throws Exception {
        station.region.memory().fill((byte) 5);
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            client.write(reach.frame(station.region.address(), station.key()));
            byte[] answer = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, answer[0]);
            assertEquals(CompletionStatus.REM_ACCESS_ERR.code(), answer[32]);
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
        }
        for (long i = 0; i < Station.SIZE; i++) {
            assertEquals(5, station.region.memory().get(ValueLayout.JAVA_BYTE, i));
        }
    }

    /** As on a device, a refusal comes after the answers to the requests before it, whose data the same call has read. */
    @Test
    void requestsBeforeARefusedOneAreAnswered() throws Exception {
        station.region.memory().fill((byte) 5);
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            long address = station.region.address();
            long key = station.key();
            byte[] forbidden = RawClient.frame(Wire.WRITE, 0, 8, 4, 0, address, ~key, 0, new byte[8]);
            client.write(ByteBuffer.allocate(3 * Wire.HEADER + forbidden.length)
                .put(RawClient.frame(Wire.READ, 0, 8, 1, 0, address, key, 0))
                .put(RawClient.frame(Wire.FLUSH_PERSISTENT, 0, 8, 2, 0, address, key, 0))
                .put(RawClient.frame(Wire.READ, 0, 8, 3, 0, address, key, 0))
                .put(forbidden).array());
            assertAnswer(Wire.READ_DATA, 1, client);
            assertAnswer(Wire.PERSISTED, 2, client);
            assertAnswer(Wire.READ_DATA, 3, client);
            assertAnswer(Wire.NAK, 4, client);
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
        }
    }

    /** Reads a frame for a request. It must not acknowledge the request, whose answer it is. */
    private static void assertAnswer(int type, int number, RawClient client) throws IOException {
        byte[] frame = client.read(Wire.HEADER);
        assertEquals(type, frame[0], "the type");
        assertEquals(number, frame[8], "the number");
        assertTrue(frame[12] < number, "request " + frame[12] + " is acknowledged");
        for (byte one : client.read(type == Wire.READ_DATA ? 8 : 0)) {
            assertEquals(5, one);
        }
    }

    /** A peer that sends requests and reads no answers uses 128 entries, and then loses its connection. */
    @Test
    void unansweredReadsAreLimited() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            long address = station.region.address();
            long key = station.key();
            // The requests need more space than the buffers of both sockets have, so that the answers accumulate.
            for (int number = 1; number <= 4 * Wire.MAX_READS; number++) {
                client.write(RawClient.frame(Wire.READ, 0, Station.SIZE, number, 0, address, key, 0));
            }
            assertEquals(ConnectionEvent.LOST, server.waitForEvent(Station.LONG));
        } catch (SocketException e) {
            // The connection ended while the test was still sending requests, which is what the test checks.
            assertNotNull(e.getMessage());
        }
        station.serves();
    }

    @Test
    void aMessageThatFindsNoReceiveIsAskedForAgain() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            WorkCompletions batch = new WorkCompletions(4);
            for (int number = 1; number <= 3; number++) {
                client.write(RawClient.frame(Wire.SEND, 0, 8, number, 0, 0, 0, 0, new byte[8]));
            }
            byte[] answer = client.read(Wire.HEADER);
            assertEquals(Wire.NOT_READY, answer[0]);
            assertEquals(2, answer[8]);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            server.receive(station.region, 64, 64, 8);
            answer = client.read(Wire.HEADER);
            assertEquals(Wire.RESUME, answer[0]);
            assertEquals(2, answer[8]);
            client.write(RawClient.frame(Wire.SEND, 0, 8, 2, 0, 0, 0, 0, new byte[8]));
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(8, batch.context(0));
        }
    }

    /** A queue pair may fail after it has reported that it has no receive. It then refuses the next request that arrives. */
    @Test
    void aMessageThatFindsNoReceiveCanBeRefused() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            server.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            client.write(RawClient.frame(Wire.NOT_READY, 0, 0, 1, 0, 0, 0, 0));
            client.write(RawClient.frame(Wire.NAK, 0, 0, 1, 0, 0, 0, CompletionStatus.RETRY_EXC_ERR.code()));
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.RETRY_EXC_ERR, batch.status(0));
        }
    }

    /** A silent client is dropped after five seconds. */
    @Test
    void aSilentClientIsDropped() throws Exception {
        try (RawClient client = RawClient.connect(station.address())) {
            client.read(Greeting.SIZE);
            assertEnds(client);
        }
        station.serves();
    }

    @Test
    void anotherListenersSocketCanBeAdopted() throws Exception {
        int listener = listen();
        try {
            Thread.ofPlatform().daemon().start(() -> adoptFrom(listener));
            try (var request = station.request(TcpSockets.localAddress(listener)); Connection client = request.connect(null);
                    Connection server = station.accept()) {
                assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
                client.send(null, 0, 0, CompletionFlag.ALWAYS, 1);
                assertEquals(1, server.completionQueue().poll(new WorkCompletions(1), Station.LONG));
            }
        } finally {
            Posix.close(listener);
        }
    }

    /** It is adopted by another thread while the adapter's thread sleeps without a time limit. */
    @Test
    void aSilentClientOfAnotherListenerIsDropped() throws Exception {
        int listener = listen();
        try (RawClient client = RawClient.connect(TcpSockets.localAddress(listener))) {
            adoptFrom(listener);
            client.read(Greeting.SIZE);
            assertEnds(client);
        } finally {
            Posix.close(listener);
        }
    }

    private static int listen() {
        int listener = Sockets.socket(Sockets.AF_INET, Sockets.SOCK_STREAM);
        assertEquals(0, Sockets.bind(listener, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        assertEquals(0, Sockets.listen(listener, 1));
        return listener;
    }

    private void adoptFrom(int listener) {
        ((TcpEndpoint) station.endpoint).adopt(Sockets.accept(listener));
    }

    private static void assertEnds(RawClient client) {
        try {
            int next = client.next();
            while (next >= 0) {
                next = client.next();
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the connection was not closed", e);
        } catch (IOException e) {
            // A reset also ends the connection.
            assertNotNull(e.getMessage());
        }
    }
}
