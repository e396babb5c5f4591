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
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests that a queue pair in the error state stores nothing any more, also not the rest of a payload that is arriving. */
@Timeout(60)
class DiscardedPayloadTest {
    private static final byte SENT = 1;
    private static final byte REUSED = 2;

    private Station station;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    private static byte[] payload(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, SENT);
        return bytes;
    }

    private MemorySegment memory(int length) {
        return station.region.memory().asSlice(0, length);
    }

    /** Has a connection read data until it has stored some bytes. */
    private void awaitStored(int length, Connection connection) throws Exception {
        while (station.region.memory().get(ValueLayout.JAVA_BYTE, length - 1) != SENT) {
            Sockets.poll(connection.completionQueue().fd(), (short) Sockets.EPOLLIN, 1);
            assertEquals(0, connection.completionQueue().poll(new WorkCompletions(1)));
        }
    }

    private void assertReused(int length) {
        byte[] expected = new byte[length];
        Arrays.fill(expected, REUSED);
        assertEquals(-1, memory(length).mismatch(MemorySegment.ofArray(expected)), "the first byte that was overwritten");
    }

    /** A connection stores short payloads and long ones in different ways. */
    @ParameterizedTest
    @ValueSource(ints = {1000, 200_000})
    void theTargetOfAFlushedReadIsNotWritten(int length) throws Exception {
        ByteBuffer descriptor = ByteBuffer.allocate(station.region.descriptorSize());
        station.region.descriptor(descriptor);
        try (RawServer server = new RawServer();
                RemoteMemoryRegion remote = station.provider.openRemoteRegion(descriptor.flip());
                ConnectionRequest request = station.peer.newConnectionRequest(server.address(), null);
                Connection client = request.connect(null)) {
            server.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.read(station.region, 0, remote, 0, length, CompletionFlag.ALWAYS, 1);
            assertEquals(Wire.READY, server.read(Wire.HEADER)[0]);
            assertEquals(Wire.READ, server.read(Wire.HEADER)[0]);
            byte[] data = payload(length / 2);
            server.write(RawClient.frame(Wire.READ_DATA, 0, length, 1, 0, 0, 0, 0, data));
            awaitStored(length / 2, client);
            client.disconnect();
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, client.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            memory(length).fill(REUSED);
            server.write(data);
            server.hangUp();
            // The end of the stream is behind the data.
            assertEquals(ConnectionEvent.CLOSED, client.waitForEvent(Station.LONG));
            assertReused(length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 200_000})
    void theTargetOfAWriteIsNotWrittenAfterAFailure(int length) throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            byte[] data = payload(length / 2);
            client.write(RawClient.frame(Wire.WRITE, 0, length, 1, 0, station.region.address(), station.key(), 0, data));
            awaitStored(length / 2, server);
            server.disconnect();
            // The adapter's thread may hold the queue pair. The receive is flushed when the queue pair has failed.
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.WR_FLUSH_ERR, batch.status(0));
            memory(length).fill(REUSED);
            client.write(data);
            client.hangUp();
            assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
            assertReused(length);
        }
    }

    /** The peer would wait for ever otherwise, if it sends nothing else. */
    @Test
    void aRequestThatArrivesDuringAFailureIsRefused() throws Exception {
        int length = 1000;
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client);
                AddressRange range = station.provider.reserve(Posix.PAGE_SIZE);
                LocalMemoryRegion unusable =
                    station.peer.register(range.commit(0, Posix.PAGE_SIZE), EnumSet.of(MemoryUsage.RECV))) {
            byte[] data = payload(length / 2);
            client.write(RawClient.frame(Wire.WRITE, 0, length, 1, 0, station.region.address(), station.key(), 0, data));
            awaitStored(length / 2, server);
            server.send(unusable, 0, 8, CompletionFlag.ALWAYS, 1);
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, server.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.LOC_PROT_ERR, batch.status(0));
            client.write(data);
            byte[] answer = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, answer[0]);
            assertEquals(1, answer[8], "its number");
            assertEquals(CompletionStatus.RETRY_EXC_ERR.code(), answer[32]);
        }
    }

    /** A message that waits for a receive has arrived already, and the peer would wait for ever as well. */
    @Test
    void aMessageWithoutAReceiveIsRefusedAfterAFailure() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client);
                AddressRange range = station.provider.reserve(Posix.PAGE_SIZE);
                LocalMemoryRegion unusable =
                    station.peer.register(range.commit(0, Posix.PAGE_SIZE), EnumSet.of(MemoryUsage.RECV))) {
            client.write(RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0));
            client.write(RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0));
            byte[] answer = client.read(Wire.HEADER);
            assertEquals(Wire.NOT_READY, answer[0]);
            assertEquals(2, answer[8], "its number");
            server.send(unusable, 0, 8, CompletionFlag.ALWAYS, 1);
            answer = client.read(Wire.HEADER);
            assertEquals(Wire.NAK, answer[0]);
            assertEquals(2, answer[8], "its number");
            assertEquals(CompletionStatus.RETRY_EXC_ERR.code(), answer[32]);
        }
    }

    /** The end of the connection flushes the message at the peer. */
    @Test
    void aMessageWithoutAReceiveIsNotRefusedByAnOrderlyEnd() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            client.write(RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0));
            client.write(RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0));
            assertEquals(Wire.NOT_READY, client.read(Wire.HEADER)[0]);
            server.disconnect();
            assertEquals(-1, client.next());
        }
    }
}
