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
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RemoteMemoryRegion;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests messages that complete as soon as the socket has taken them, and the end that has no receive for them. */
@Timeout(120)
class EarlySendTest {
    private static final int PIECE = 100_000;
    /** Where messages are sent from. The first receive of {@link Station#accept()} is at 0, and may be filled at any time. */
    private static final int SOURCE = PIECE;
    private static final int TARGET = 5 * PIECE;

    private final WorkCompletions batch = new WorkCompletions(1);
    private Station station;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        station.close();
    }

    private void await(Connection connection, long context, CompletionStatus status) throws Exception {
        assertEquals(1, connection.completionQueue().poll(batch, Station.LONG));
        assertEquals(status, batch.status(0));
        assertEquals(context, batch.context(0));
    }

    private void await(Connection connection, long context) throws Exception {
        await(connection, context, CompletionStatus.SUCCESS);
    }

    private void assertNothing(Connection connection) throws Exception {
        assertEquals(0, connection.completionQueue().poll(batch));
    }

    private MemorySegment memory() {
        return station.region.memory();
    }

    private static byte[] message(int number, int content) {
        return RawClient.frame(Wire.SEND, Wire.ONCE, 1, number, 0, 0, 0, 0, (byte) content);
    }

    /** Several messages are read by one call, so some of them are kept until there are receives for them. */
    @Test
    void messagesThatHaveCompletedArriveUnchangedAndInOrder() throws Exception {
        try (ConnectionRequest request = station.request(station.address()); Connection client = request.connect(null);
                Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            int[] lengths = {8, 1, PIECE, 3, 3000, PIECE, 2, 0, 1};
            for (int i = 0; i < lengths.length; i++) {
                memory().asSlice(SOURCE, PIECE).fill((byte) (i + 1));
                LocalMemoryRegion source = lengths[i] == 0 ? null : station.region;
                client.sendWithImmediate(source, source == null ? 0 : SOURCE, lengths[i], CompletionFlag.ALWAYS, i, 100 + i);
                // There is one receive for all of them.
                await(client, 100 + i);
            }
            memory().asSlice(SOURCE, PIECE).fill((byte) 0);
            await(server, 7);
            for (int i = 1; i < lengths.length; i++) {
                assertNothing(server);
                server.receive(station.region, TARGET, PIECE, i);
                await(server, i);
                assertEquals(lengths[i], batch.byteLength(0));
                assertEquals(i, batch.immediate(0));
                for (int at : lengths[i] == 0 ? new int[0] : new int[] {0, lengths[i] - 1}) {
                    assertEquals(i + 1, memory().get(ValueLayout.JAVA_BYTE, TARGET + at), "message " + i);
                }
            }
        }
    }

    /** Once it is off, a completion shows that everything before it has arrived. */
    @Test
    void theLastMessageCompletesWhenAllHaveArrived() throws Exception {
        try (ConnectionRequest request = station.request(station.address()); Connection client = request.connect(null);
                Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            client.send(station.region, 0, PIECE, CompletionFlag.ALWAYS, 2);
            client.completeSendsEarly(false);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 3);
            client.completeSendsEarly(true);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 4);
            await(client, 1);
            await(client, 2);
            await(server, 7);
            server.receive(station.region, TARGET, PIECE, 8);
            await(server, 8);
            assertNothing(client);
            server.receive(station.region, TARGET, PIECE, 9);
            await(server, 9);
            await(client, 3);
            await(client, 4);
            server.receive(station.region, TARGET, PIECE, 10);
            await(server, 10);
        }
    }

    /** It completes after the write. The other side says nothing that would acknowledge the write, unless it is asked. */
    @Test
    void aMessageBehindAWriteWithoutACompletionCompletes() throws Exception {
        try (RemoteMemoryRegion remote = remote(); ConnectionRequest request = station.request(station.address());
                Connection client = request.connect(null); Connection server = station.accept()) {
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            client.write(remote, TARGET, station.region, SOURCE, 8, CompletionFlag.ON_ERROR, 1);
            client.send(station.region, SOURCE, 8, CompletionFlag.ALWAYS, 2);
            await(client, 2);
            await(server, 7);
        }
    }

    /** A message does not ask for the acknowledgement of requests that are acknowledged or answered in any case. */
    @Test
    void anAcknowledgementIsRequestedIfNothingElseDoes() throws Exception {
        try (RawServer raw = new RawServer(); RemoteMemoryRegion remote = remote();
                ConnectionConfig config = station.provider.newConnectionConfig().sendQueueSize(64);
                ConnectionRequest request = station.peer.newConnectionRequest(raw.address(), config);
                Connection client = request.connect(null)) {
            raw.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            assertEquals(Wire.READY, raw.read(Wire.HEADER)[0]);
            assertMessage(Wire.ONCE, CompletionFlag.ALWAYS, client, raw);
            client.write(null, 0, null, 0, 0, CompletionFlag.ON_ERROR, 1);
            assertFrame(Wire.WRITE, 0, raw);
            assertMessage(Wire.ONCE, CompletionFlag.ON_ERROR, client, raw);
            assertMessage(Wire.ONCE | Wire.WANTED, CompletionFlag.ALWAYS, client, raw);
            assertMessage(Wire.ONCE, CompletionFlag.ALWAYS, client, raw);
            client.atomicWrite(remote, 0, 1, CompletionFlag.ON_ERROR, 1);
            assertFrame(Wire.ATOMIC_WRITE, 0, raw);
            client.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1);
            assertFrame(Wire.WRITE, Wire.WANTED, raw);
            assertMessage(Wire.ONCE, CompletionFlag.ALWAYS, client, raw);
            client.write(null, 0, null, 0, 0, CompletionFlag.ON_ERROR, 1);
            assertFrame(Wire.WRITE, 0, raw);
            client.read(null, 0, null, 0, 0, CompletionFlag.ON_ERROR, 1);
            assertFrame(Wire.READ, 0, raw);
            assertMessage(Wire.ONCE, CompletionFlag.ALWAYS, client, raw);
        }
    }

    private static void assertMessage(int flags, CompletionFlag flag, Connection client, RawServer raw) throws Exception {
        client.send(null, 0, 0, flag, 1);
        assertFrame(Wire.SEND, flags, raw);
    }

    private static void assertFrame(int type, int flags, RawServer raw) throws Exception {
        byte[] frame = raw.read(Wire.HEADER);
        assertEquals(type, frame[0], "the type");
        assertEquals(flags, frame[1], "the flags");
    }

    private RemoteMemoryRegion remote() throws Exception {
        ByteBuffer descriptor = ByteBuffer.allocate(station.region.descriptorSize());
        station.region.descriptor(descriptor);
        return station.provider.openRemoteRegion(descriptor.flip());
    }

    /** A full socket takes nothing, so nothing completes until the other side reads. */
    @Test
    void aMessageThatTheSocketHasNotTakenDoesNotComplete() throws Exception {
        try (RawServer raw = new RawServer(); ConnectionConfig config = station.provider.newConnectionConfig().sendQueueSize(1000)
                .completionQueueSize(1000); ConnectionRequest request = station.peer.newConnectionRequest(raw.address(), config);
                Connection client = request.connect(null)) {
            raw.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            int messages = 200;
            for (int i = 0; i < messages; i++) {
                client.send(station.region, 0, PIECE, CompletionFlag.ALWAYS, i);
            }
            int completed = 0;
            while (client.completionQueue().poll(batch) == 1) {
                assertEquals(completed++, batch.context(0));
            }
            raw.read(Wire.HEADER + completed * (Wire.HEADER + PIECE));
            for (; completed < messages; completed++) {
                raw.read(Wire.HEADER + PIECE);
                await(client, completed);
            }
        }
    }

    /** A release that supports version 1 alone would request the messages again. */
    @Test
    void aPeerOfVersion1GetsMessagesThatCanBeSentAgain() throws Exception {
        Greeting own = Greeting.own();
        Greeting old = new Greeting(1, 1, Greeting.SIZE, own.reads(), own.maxMessage(), own.host(), own.process());
        try (RawServer raw = new RawServer(old); ConnectionRequest request = station.request(raw.address());
                Connection client = request.connect(null)) {
            Greeting chosen = raw.accept();
            assertEquals(1, chosen.lowest());
            assertEquals(1, chosen.highest());
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            assertEquals(Wire.READY, raw.read(Wire.HEADER)[0]);
            byte[] message = raw.read(Wire.HEADER + 8);
            assertEquals(Wire.SEND, message[0]);
            assertEquals(Wire.WANTED, message[1]);
            assertNothing(client);
            raw.write(RawClient.frame(Wire.ACK, 0, 0, 0, 1, 0, 0, 0));
            await(client, 1);
        }
    }

    @Test
    void aClientOfVersion1IsServed() throws Exception {
        byte[] request = RawClient.request();
        request[8] = 1;
        request[10] = 1;
        try (RawClient client = RawClient.connect(station.address())) {
            client.read(Greeting.SIZE);
            client.write(request);
            try (Connection server = station.accept(client)) {
                server.completeSendsEarly(true);
                server.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
                byte[] message = client.read(Wire.HEADER + 8);
                assertEquals(Wire.SEND, message[0]);
                assertEquals(Wire.WANTED, message[1]);
                assertNothing(server);
                client.write(RawClient.frame(Wire.ACK, 0, 0, 0, 1, 0, 0, 0));
                await(server, 1);
            }
        }
    }

    /** A message without a receive is neither requested again nor lost, and this side goes on sending. */
    @Test
    void theOtherDirectionContinuesWhileReadingPauses() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            client.write(message(1, 1));
            await(server, 7);
            client.write(message(2, 2));
            client.write(message(3, 3));
            server.completeSendsEarly(true);
            for (int i = 0; i < 10; i++) {
                server.send(station.region, 0, 8, CompletionFlag.ALWAYS, i);
                await(server, i);
                assertEquals(Wire.SEND, client.read(Wire.HEADER + 8)[0]);
            }
            for (int i = 2; i <= 3; i++) {
                server.receive(station.region, TARGET, 64, 10 + i);
                await(server, 10 + i);
                assertEquals(i, memory().get(ValueLayout.JAVA_BYTE, TARGET));
            }
        }
    }

    @Test
    void connectionsThatShareReceivesContinueOneByOne() throws Exception {
        try (SharedReceiveQueueConfig sizes = station.provider.newSharedReceiveQueueConfig().receiveCompletionQueueSize(64);
                SharedReceiveQueue queue = station.peer.newSharedReceiveQueue(sizes);
                ConnectionConfig config = station.provider.newConnectionConfig().sharedReceiveQueue(queue);
                RawClient first = RawClient.requesting(station.address());
                Connection one = station.endpoint.waitForConnectionRequest(config, Station.LONG).connect(null);
                RawClient second = RawClient.requesting(station.address());
                Connection two = station.endpoint.waitForConnectionRequest(config, Station.LONG).connect(null)) {
            first.establish();
            second.establish();
            assertEquals(ConnectionEvent.ESTABLISHED, one.waitForEvent(Station.LONG));
            assertEquals(ConnectionEvent.ESTABLISHED, two.waitForEvent(Station.LONG));
            for (int i = 1; i <= 3; i++) {
                first.write(message(i, i));
                second.write(message(i, i));
            }
            int received = 0;
            for (int i = 0; i < 6; i++) {
                queue.receive(station.region, TARGET, 64, i);
                assertEquals(1, queue.receiveCompletionQueue().poll(batch, Station.LONG));
                assertEquals(CompletionOpcode.RECV, batch.opcode(0));
                received += memory().get(ValueLayout.JAVA_BYTE, TARGET);
            }
            assertEquals(12, received);
        }
    }

    /** The end of the connection comes after the messages that have completed at the peer. */
    @Test
    void theEndIsReportedAfterTheMessages() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            for (int i = 1; i <= 3; i++) {
                client.write(message(i, i));
            }
            client.hangUp();
            await(server, 7);
            for (int i = 2; i <= 3; i++) {
                assertEquals(null, server.nextEvent());
                server.receive(station.region, TARGET, 64, i);
                await(server, i);
            }
            assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
        }
    }

    @Test
    void aQueuePairThatFailsWhileItsReadingPausesReachesItsEnd() throws Exception {
        try (RawClient client = RawClient.requesting(station.address()); Connection server = station.accept(client)) {
            client.write(message(1, 1));
            await(server, 7);
            client.write(message(2, 2));
            client.write(message(3, 3));
            server.disconnect();
            client.hangUp();
            assertEquals(ConnectionEvent.CLOSED, server.waitForEvent(Station.LONG));
        }
    }

    /** What a test does after a message that has completed early. */
    private interface Sequel {
        void run(RawServer raw, Connection client) throws Exception;
    }

    private void afterACompletedMessage(Sequel sequel) throws Exception {
        try (RawServer raw = new RawServer(); ConnectionRequest request = station.request(raw.address());
                Connection client = request.connect(null)) {
            raw.accept();
            assertEquals(ConnectionEvent.ESTABLISHED, client.waitForEvent(Station.LONG));
            client.completeSendsEarly(true);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            await(client, 1);
            sequel.run(raw, client);
        }
    }

    /** The peer may refuse a message, for example because its receive is too short. */
    @Test
    void aRefusalOfACompletedMessageFailsTheQueuePair() throws Exception {
        afterACompletedMessage((raw, client) -> {
            client.completeSendsEarly(false);
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 2);
            raw.write(RawClient.frame(Wire.NAK, 0, 0, 1, 0, 0, 0, CompletionStatus.REM_INV_REQ_ERR.code()));
            await(client, 2, CompletionStatus.WR_FLUSH_ERR);
            client.disconnect();
        });
    }

    @Test
    void aRefusalOfAnAcknowledgedMessageIsAViolation() throws Exception {
        afterACompletedMessage((raw, client) -> {
            raw.write(RawClient.frame(Wire.NAK, 0, 0, 1, 1, 0, 0, CompletionStatus.REM_INV_REQ_ERR.code()));
            assertEquals(ConnectionEvent.LOST, client.waitForEvent(Station.LONG));
        });
    }

    /** It cannot be sent again: its memory may have changed. */
    @Test
    void aRequestToSendACompletedMessageAgainIsAViolation() throws Exception {
        afterACompletedMessage((raw, client) -> {
            raw.write(RawClient.frame(Wire.NOT_READY, 0, 0, 1, 0, 0, 0, 0));
            assertEquals(ConnectionEvent.LOST, client.waitForEvent(Station.LONG));
        });
    }
}
