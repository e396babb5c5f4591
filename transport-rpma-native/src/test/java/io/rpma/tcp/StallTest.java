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
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests that a message without a receive only stalls the messages behind it. */
@Timeout(120)
class StallTest {
    private static final int PIECE = 100_000;

    private static void await(Connection connection, long context) throws Exception {
        WorkCompletions batch = new WorkCompletions(1);
        assertEquals(1, connection.completionQueue().poll(batch, Station.LONG));
        assertEquals(0, batch.statusCode(0));
        assertEquals(context, batch.context(0));
    }

    @Test
    void answersComeThroughWhileTheOtherSidesMessageIsStalled() throws Exception {
        try (Station station = new Station(); RemoteMemoryRegion remote = remote(station);
                ConnectionRequest request = station.request(station.address());
                Connection client = request.connect(null); Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            station.region.memory().asSlice(0, PIECE).fill((byte) 3);
            // No receive has been posted at the client.
            server.send(station.region, 0, PIECE, CompletionFlag.ALWAYS, 1);
            for (int i = 0; i < 10; i++) {
                client.read(station.region, 2L * PIECE, remote, 0, PIECE, CompletionFlag.ALWAYS, 2);
                await(client, 2);
                assertEquals(3, station.region.memory().get(ValueLayout.JAVA_BYTE, 3L * PIECE - 1));
                client.write(remote, 4L * PIECE, station.region, 0, PIECE, CompletionFlag.ALWAYS, 3);
                await(client, 3);
            }
            assertEquals(0, server.completionQueue().poll(new WorkCompletions(1)));
            client.receive(station.region, 6L * PIECE, PIECE, 4);
            await(client, 4);
            await(server, 1);
            assertEquals(3, station.region.memory().get(ValueLayout.JAVA_BYTE, 7L * PIECE - 1));
        }
    }

    /** More data is sent than the sockets accept, and each message must be requested again. */
    @Test
    void everythingIsSentAgainInItsOrder() throws Exception {
        int messages = 10;
        try (Station station = new Station();
                ConnectionRequest request = station.request(station.address());
                Connection client = request.connect(null); Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.send(null, 0, 0, CompletionFlag.ALWAYS, 0);
            await(server, 7);
            await(client, 0);
            for (int i = 0; i < messages; i++) {
                station.region.memory().set(ValueLayout.JAVA_BYTE, i, (byte) i);
                client.send(station.region, i, PIECE, CompletionFlag.ALWAYS, i);
            }
            for (int i = 0; i < messages; i++) {
                assertEquals(0, server.completionQueue().poll(new WorkCompletions(1)));
                server.receive(station.region, 5L * PIECE, PIECE, 100 + i);
                await(server, 100 + i);
                assertEquals(i, station.region.memory().get(ValueLayout.JAVA_BYTE, 5L * PIECE));
                await(client, i);
            }
        }
    }

    /** The other side sends the request again. Until then it means nothing, and above all it answers no read of this side. */
    @ParameterizedTest
    @ValueSource(ints = {Wire.READ, Wire.ATOMIC_WRITE, Wire.FLUSH, Wire.FLUSH_PERSISTENT})
    void aDroppedRequestCompletesNoRead(int type) throws Exception {
        int length = 8;
        try (Station station = new Station(); RemoteMemoryRegion remote = remote(station);
                RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            server.read(station.region, PIECE, remote, 0, length, CompletionFlag.ALWAYS, 1);
            assertEquals(Wire.READ, client.read(Wire.HEADER)[0]);
            // There is one receive.
            client.write(RawClient.frame(Wire.SEND, 0, 0, 1, 0, 0, 0, 0));
            await(server, 7);
            client.write(RawClient.frame(Wire.SEND, 0, 0, 2, 0, 0, 0, 0));
            assertEquals(Wire.NOT_READY, client.read(Wire.HEADER)[0]);
            client.write(RawClient.frame(type, 0, length, 3, 0, station.region.address(), station.key(), 0));
            // The answer to this frame shows that the one before has been processed.
            client.write(RawClient.frame(Wire.ACK, Wire.WANTED, 0, 0, 0, 0, 0, 0));
            assertEquals(Wire.ACK, client.read(Wire.HEADER)[0]);
            assertEquals(0, server.completionQueue().poll(new WorkCompletions(1)));
            client.write(RawClient.frame(Wire.READ_DATA, 0, length, 1, 0, 0, 0, 0, new byte[] {9, 0, 0, 0, 0, 0, 0, 0}));
            await(server, 1);
            assertEquals(9, station.region.memory().get(ValueLayout.JAVA_BYTE, PIECE));
        }
    }

    /** The peer may have acknowledged before it executes the message, so it has to be asked again. */
    @Test
    void aRequestBehindAStalledMessageFailsWhenTheMessageHasBeenExecuted() throws Exception {
        try (Station station = new Station(); RawServer server = new RawServer();
                AddressRange range = station.provider.reserve(Posix.PAGE_SIZE);
                LocalMemoryRegion unusable =
                    station.peer.register(range.commit(0, Posix.PAGE_SIZE), EnumSet.of(MemoryUsage.RECV));
                ConnectionRequest request = station.request(server.address()); Connection client = request.connect(null)) {
            server.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            assertEquals(Wire.READY, server.read(Wire.HEADER)[0]);
            client.send(null, 0, 0, CompletionFlag.ON_ERROR, 1);
            client.send(unusable, 0, 8, CompletionFlag.ALWAYS, 2);
            assertEquals(Wire.SEND, server.read(Wire.HEADER)[0]);
            assertQuestion(server);
            server.write(RawClient.frame(Wire.NOT_READY, 0, 0, 1, 0, 0, 0, 0));
            server.write(RawClient.frame(Wire.ACK, 0, 0, 0, 0, 0, 0, 0));
            server.write(RawClient.frame(Wire.RESUME, 0, 0, 1, 0, 0, 0, 0));
            assertEquals(Wire.SEND, server.read(Wire.HEADER)[0]);
            assertQuestion(server);
            server.write(RawClient.frame(Wire.ACK, 0, 0, 0, 1, 0, 0, 0));
            WorkCompletions batch = new WorkCompletions(1);
            assertEquals(1, client.completionQueue().poll(batch, Station.LONG));
            assertEquals(CompletionStatus.LOC_PROT_ERR, batch.status(0));
            assertEquals(2, batch.context(0));
        }
    }

    private static void assertQuestion(RawServer server) throws Exception {
        byte[] frame = server.read(Wire.HEADER);
        assertEquals(Wire.ACK, frame[0]);
        assertEquals(Wire.WANTED, frame[1]);
    }

    private static RemoteMemoryRegion remote(Station station) throws Exception {
        ByteBuffer descriptor = ByteBuffer.allocate(station.region.descriptorSize());
        station.region.descriptor(descriptor);
        return station.provider.openRemoteRegion(descriptor.flip());
    }
}
