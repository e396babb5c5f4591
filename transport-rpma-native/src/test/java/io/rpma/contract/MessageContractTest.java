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
package io.rpma.contract;

import io.rpma.CompletionFlag;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.CompletionFlag.ON_ERROR;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests sending and receiving messages. */
class MessageContractTest extends ContractCase {
    /** A method that posts a work request with completion flags. */
    interface Posting {
        void post(Pair pair, CompletionFlag flag) throws RpmaException;
    }

    private static Named<Posting> posting(String function, Posting posting) {
        return Named.of(function, posting);
    }

    static Stream<Named<Posting>> postings() {
        return Stream.of(
            posting("rpma_send", (p, flag) -> p.client.send(p.clientMemory, 0, 8, flag, 1)),
            posting("rpma_send_with_imm", (p, flag) -> p.client.sendWithImmediate(p.clientMemory, 0, 8, flag, 5, 1)),
            posting("rpma_write", (p, flag) -> p.client.write(p.atServer, 0, p.clientMemory, 0, 8, flag, 1)),
            posting("rpma_write_with_imm",
                (p, flag) -> p.client.writeWithImmediate(p.atServer, 0, p.clientMemory, 0, 8, flag, 5, 1)),
            posting("rpma_read", (p, flag) -> p.client.read(p.clientMemory, 0, p.atServer, 0, 8, flag, 1)),
            posting("rpma_flush", (p, flag) -> p.client.flush(p.atServer, 0, 8, FlushType.VISIBILITY, flag, 1)),
            posting("rpma_atomic_write", (p, flag) -> p.client.atomicWrite(p.atServer, 0, 1, flag, 1)));
    }

    /** Each man page: RPMA_E_INVAL - flags are not set (flags == 0). */
    @ParameterizedTest
    @MethodSource("postings")
    void noFlagIsRefused(Posting posting) throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> posting.post(pair, null));
        pair.exchange();
        Wait.noCompletion(pair.client.completionQueue());
    }

    /** Each man page: RPMA_F_COMPLETION_ALWAYS - generate the completion regardless of the result. */
    @ParameterizedTest
    @MethodSource("postings")
    void alwaysGivesACompletion(Posting posting) throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 3);
        posting.post(pair, ALWAYS);
        Completion completion = Wait.success(pair.client.completionQueue());
        assertEquals(1, completion.context());
        assertEquals(pair.client.queuePairNumber(), completion.queuePairNumber());
        Wait.noCompletion(pair.client.completionQueue());
    }

    /** Each man page: RPMA_F_COMPLETION_ON_ERROR - generate the completion on error. */
    @ParameterizedTest
    @MethodSource("postings")
    void onErrorGivesNoCompletionOnSuccess(Posting posting) throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 3);
        posting.post(pair, ON_ERROR);
        // A later signalled work request completes, so the earlier one has been executed.
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 2);
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        Wait.noCompletion(pair.client.completionQueue());
    }

    /** rpma_send(3), rpma_recv(3): a message may have any length up to that of the buffer, which may be filled completely. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 32768})
    void messageOfThisLengthArrives(int length) throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 100, length, length);
        pair.server.receive(pair.serverMemory, 200, length, 11);
        pair.client.send(pair.clientMemory, 100, length, ALWAYS, 12);
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(11, received.context());
        assertEquals(length, received.byteLength());
        assertEquals(CompletionOpcode.RECV, received.opcode());
        assertFalse(received.hasImmediate());
        Completion sent = Wait.success(pair.client.completionQueue());
        assertEquals(12, sent.context());
        assertEquals(CompletionOpcode.SEND, sent.opcode());
        Memory.assertFilled(pair.serverMemory, 200, length, length);
        Memory.assertUntouched(pair.serverMemory, 0, 200);
        Memory.assertUntouched(pair.serverMemory, 200 + length, 1000);
    }

    /** rpma_recv(3): the buffer may be longer than the message. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64, 4095})
    void shortMessageLeavesTheRestOfTheBufferAlone(int length) throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 0, length, 9);
        pair.server.receive(pair.serverMemory, 0, 4096, 1);
        pair.client.send(pair.clientMemory, 0, length, ALWAYS, 2);
        assertEquals(length, Wait.success(pair.server.completionQueue()).byteLength());
        Memory.assertFilled(pair.serverMemory, 0, length, 9);
        Memory.assertUntouched(pair.serverMemory, length, 4096 - length);
    }

    /** The message has the maximum length of the device, but at most one megabyte. */
    @Test
    void longMessageArrives() throws Exception {
        int length = (int) Math.min(1 << 20, Contract.DEVICE.limits().maxMessageSize());
        Pair pair = pair();
        LocalMemoryRegion from = pair.own(pair.memory.region(pair.peer, length, Memory.ALL));
        LocalMemoryRegion to = pair.own(pair.memory.region(pair.peer, length, Memory.ALL));
        Memory.fill(from, 0, length, 3);
        pair.server.receive(to, 0, length, 1);
        pair.client.send(from, 0, length, ALWAYS, 2);
        assertEquals(length, Wait.success(pair.server.completionQueue()).byteLength());
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(to, 0, length, 3);
    }

    /** rpma_send(3): to send a 0 byte message, set src to NULL and both offset and len to 0; rpma_recv(3) likewise. */
    @Test
    void emptyMessageNeedsNoMemory() throws Exception {
        Pair pair = pair();
        pair.server.receive(null, 0, 0, 1);
        pair.client.send(null, 0, 0, ALWAYS, 2);
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(1, received.context());
        assertEquals(0, received.byteLength());
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
    }

    /** rpma_send(3), rpma_send_with_imm(3), rpma_recv(3): RPMA_E_INVAL - src == NULL and (offset != 0 or len != 0). */
    @Test
    void noMemoryMeansNoOffsetAndNoLength() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.send(null, 1, 0, ALWAYS, 1));
        refused(INVALID, () -> pair.client.send(null, 0, 1, ALWAYS, 1));
        refused(INVALID, () -> pair.client.sendWithImmediate(null, 1, 0, ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.sendWithImmediate(null, 0, 1, ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.receive(null, 1, 0, 1));
        refused(INVALID, () -> pair.client.receive(null, 0, 1, 1));
        pair.exchange();
    }

    /** The offsets and lengths are unsigned in C. */
    @Test
    void negativeNumbersAreRefused() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.send(pair.clientMemory, -1, 8, ALWAYS, 1));
        refused(INVALID, () -> pair.client.send(pair.clientMemory, 0, -1, ALWAYS, 1));
        refused(INVALID, () -> pair.client.sendWithImmediate(pair.clientMemory, -1, 8, ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.sendWithImmediate(pair.clientMemory, 0, -8, ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.receive(pair.clientMemory, -1, 8, 1));
        refused(INVALID, () -> pair.client.receive(pair.clientMemory, 0, -1, 1));
        pair.exchange();
    }

    /** facts 2.6: librpma truncates a length to 32 bits, so that it would send other data than requested. */
    @Test
    void lengthPastThirtyTwoBitsIsRefused() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.send(pair.clientMemory, 0, (1L << 32) + 8, ALWAYS, 1));
        refused(INVALID, () -> pair.client.sendWithImmediate(pair.clientMemory, 0, (1L << 32) + 8, ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.receive(pair.clientMemory, 0, (1L << 32) + 8, 1));
        refused(INVALID, () -> pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 1L << 32, ALWAYS, 1));
        refused(INVALID, () -> pair.client.read(pair.clientMemory, 0, pair.atServer, 0, 1L << 32, ALWAYS, 1));
        pair.exchange();
    }

    /** rpma_send(3), rpma_recv(3): op_context is returned in the wr_id field, all 64 bits of it. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x8000_0000L, 0x0123_4567_89ab_cdefL})
    void contextComesBack(long context) throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, context);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, ~context);
        assertEquals(context, Wait.success(pair.server.completionQueue()).context());
        assertEquals(~context, Wait.success(pair.client.completionQueue()).context());
    }

    /** rpma_recv(3): the buffers form an unordered set; the messages of one connection still arrive in order. */
    @Test
    void messagesKeepTheirOrderWhateverTheBuffers() throws Exception {
        Pair pair = pair();
        int count = 16;
        for (int i = 0; i < count; i++) {
            pair.server.receive(pair.serverMemory, i * 256L, 256, i);
        }
        for (int i = 0; i < count; i++) {
            Memory.fill(pair.clientMemory, i * 256L, 10 + i, i);
            pair.client.send(pair.clientMemory, i * 256L, 10 + i, ALWAYS, i);
        }
        Set<Long> buffers = new HashSet<>();
        int message = 0;
        for (Completion received : Wait.successes(pair.server.completionQueue(), count)) {
            assertTrue(buffers.add(received.context()), "a buffer takes one message");
            assertEquals(10 + message, received.byteLength(), "completions must be in the order of the messages");
            Memory.assertFilled(pair.serverMemory, received.context() * 256, received.byteLength(), message);
            message++;
        }
        assertEquals(count, buffers.size());
        assertEquals(count, Wait.successes(pair.client.completionQueue(), count).size());
    }

    /** Sends complete in the order in which they were posted. */
    @Test
    void sendsCompleteInOrder() throws Exception {
        Pair pair = pair();
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < 16; i++) {
                pair.server.receive(pair.serverMemory, i * 64L, 64, i);
            }
            for (int i = 0; i < 16; i++) {
                pair.client.send(pair.clientMemory, 0, i, ALWAYS, round * 16L + i);
            }
            List<Completion> sent = Wait.successes(pair.client.completionQueue(), 16);
            for (int i = 0; i < 16; i++) {
                assertEquals(round * 16L + i, sent.get(i).context());
            }
            Wait.successes(pair.server.completionQueue(), 16);
        }
    }

    /** rpma_send_with_imm(3): the number arrives as it was given, in the byte order of this host. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, -1, 0x01020304, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void immediateDataArrives(int immediate) throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        Memory.fill(pair.clientMemory, 0, 24, 1);
        pair.client.sendWithImmediate(pair.clientMemory, 0, 24, ALWAYS, immediate, 2);
        Completion received = Wait.success(pair.server.completionQueue());
        assertTrue(received.hasImmediate());
        assertEquals(immediate, received.immediate());
        assertEquals(CompletionOpcode.RECV, received.opcode());
        assertEquals(24, received.byteLength());
        Memory.assertFilled(pair.serverMemory, 0, 24, 1);
        assertEquals(CompletionOpcode.SEND, Wait.success(pair.client.completionQueue()).opcode());
    }

    /** rpma_send_with_imm(3): with nothing else. */
    @Test
    void immediateDataNeedsNoMemory() throws Exception {
        Pair pair = pair();
        pair.server.receive(null, 0, 0, 1);
        pair.client.sendWithImmediate(null, 0, 0, ALWAYS, 0x01020304, 2);
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(0x01020304, received.immediate());
        assertEquals(0, received.byteLength());
    }

    /** Immediate data only belongs to its own message. */
    @Test
    void plainMessageAfterOneWithImmediateHasNone() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.server.receive(pair.serverMemory, 64, 64, 2);
        pair.client.sendWithImmediate(pair.clientMemory, 0, 8, ALWAYS, -1, 3);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 4);
        List<Completion> received = Wait.successes(pair.server.completionQueue(), 2);
        assertTrue(received.get(0).hasImmediate());
        assertFalse(received.get(1).hasImmediate());
    }

    /** Messages are sent in both directions at the same time. */
    @Test
    void messagesCrossEachOther() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 8; i++) {
            pair.server.receive(pair.serverMemory, i * 64L, 64, 100 + i);
            pair.client.receive(pair.clientMemory, i * 64L, 64, 100 + i);
        }
        for (int i = 0; i < 8; i++) {
            pair.client.send(pair.clientMemory, 4096, 8, ALWAYS, i);
            pair.server.send(pair.serverMemory, 4096, 8, ALWAYS, i);
        }
        for (Connection connection : new Connection[] {pair.client, pair.server}) {
            Set<Long> contexts = new HashSet<>();
            for (Completion completion : Wait.successes(connection.completionQueue(), 16)) {
                contexts.add(completion.context());
            }
            assertEquals(16, contexts.size());
        }
    }

    /** facts 0.5: RNR is a stall, not an error; the message arrives once a receive is posted. */
    @Test
    void sendWaitsForAReceive() throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 0, 64, 6);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        Wait.noCompletion(pair.client.completionQueue());
        Wait.noCompletion(pair.server.completionQueue());
        pair.server.receive(pair.serverMemory, 0, 64, 2);
        assertEquals(2, Wait.success(pair.server.completionQueue()).context());
        assertEquals(1, Wait.success(pair.client.completionQueue()).context());
        Memory.assertFilled(pair.serverMemory, 0, 64, 6);
    }

    /** A stalled send delays everything behind it; nothing overtakes it, including one-sided operations. */
    @Test
    void whatIsBehindAStalledSendWaitsToo() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 3; i++) {
            Memory.fill(pair.clientMemory, i * 64L, 64, i);
            pair.client.send(pair.clientMemory, i * 64L, 64, ALWAYS, i);
        }
        Memory.fill(pair.clientMemory, 4096, 64, 9);
        pair.client.write(pair.atServer, 4096, pair.clientMemory, 4096, 64, ALWAYS, 3);
        Wait.noCompletion(pair.client.completionQueue());
        Memory.assertUntouched(pair.serverMemory, 4096, 64);
        for (int i = 0; i < 3; i++) {
            pair.server.receive(pair.serverMemory, i * 64L, 64, i);
        }
        List<Completion> sent = Wait.successes(pair.client.completionQueue(), 4);
        for (int i = 0; i < 4; i++) {
            assertEquals(i, sent.get(i).context());
        }
        int message = 0;
        for (Completion received : Wait.successes(pair.server.completionQueue(), 3)) {
            Memory.assertFilled(pair.serverMemory, received.context() * 64, 64, message++);
        }
        Memory.assertFilled(pair.serverMemory, 4096, 64, 9);
    }

    /** A stall in one direction does not affect the other direction. */
    @Test
    void otherDirectionIsNotStalled() throws Exception {
        Pair pair = pair();
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 1);
        pair.client.receive(pair.clientMemory, 64, 64, 2);
        pair.server.send(pair.serverMemory, 0, 64, ALWAYS, 3);
        assertEquals(3, Wait.success(pair.server.completionQueue()).context());
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        pair.server.receive(pair.serverMemory, 128, 64, 4);
        assertEquals(1, Wait.success(pair.client.completionQueue()).context());
        assertEquals(4, Wait.success(pair.server.completionQueue()).context());
    }

    /** facts 2.6: a message longer than its buffer kills the queue pair, without a connection event. */
    @Test
    void messageTooLongForItsBufferKillsBothSides() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.server.receive(pair.serverMemory, 64, 64, 2);
        pair.client.send(pair.clientMemory, 0, 65, ALWAYS, 3);
        Completion sent = Wait.failure(pair.client.completionQueue());
        assertEquals(3, sent.context());
        assertEquals(pair.client.queuePairNumber(), sent.queuePairNumber());
        List<Completion> received = Wait.completions(pair.server.completionQueue(), 2);
        Set<Long> contexts = new HashSet<>();
        for (Completion completion : received) {
            assertFalse(completion.success());
            assertEquals(pair.server.queuePairNumber(), completion.queuePairNumber());
            contexts.add(completion.context());
        }
        assertEquals(Set.of(1L, 2L), contexts);
        Wait.noEvent(pair.client);
        Wait.noEvent(pair.server);
        Memory.assertUntouched(pair.serverMemory, 64, 64);
    }

    /** facts 2.6: a queue pair in the error state accepts a send, and flushes it. */
    @Test
    void sendsAfterAnErrorAreFlushed() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 65, ALWAYS, 2);
        Wait.failure(pair.client.completionQueue());
        Wait.failure(pair.server.completionQueue());
        for (Connection connection : new Connection[] {pair.client, pair.server}) {
            connection.send(null, 0, 0, ALWAYS, 3);
            connection.send(null, 0, 0, ON_ERROR, 4);
            List<Completion> flushed = Wait.completions(connection.completionQueue(), 2);
            for (int i = 0; i < 2; i++) {
                assertEquals(CompletionStatus.WR_FLUSH_ERR, flushed.get(i).status());
                assertEquals(3 + i, flushed.get(i).context());
            }
        }
    }

    /**
     * A receive that is posted to a queue pair in the error state does not succeed. It is flushed by the next disconnect at the
     * latest (measured: rxe processes its receive queue only when something else happens).
     */
    @Test
    void receivesAfterAnErrorAreFlushed() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 65, ALWAYS, 2);
        Wait.failure(pair.client.completionQueue());
        Wait.failure(pair.server.completionQueue());
        for (Connection connection : new Connection[] {pair.client, pair.server}) {
            connection.receive(null, 0, 0, 3);
            connection.disconnect();
            Completion flushed = Wait.completion(connection.completionQueue());
            assertEquals(CompletionStatus.WR_FLUSH_ERR, flushed.status());
            assertEquals(3, flushed.context());
        }
    }

    /** rpma_send(3): RPMA_F_COMPLETION_ON_ERROR - generate the completion on error. */
    @Test
    void errorCompletesUnsignalledSendsToo() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 65, ON_ERROR, 2);
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
    }

    /**
     * facts 2.6: a send from beyond the end of the region is accepted, and completes with LOC_PROT_ERR. Measured since: rxe
     * usually reports the work request that broke the queue pair as flushed, so the status does not identify the cause.
     */
    @Test
    void sendFromOutsideTheRegionIsAProtectionError() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 128, 1);
        pair.client.send(pair.clientMemory, Pair.SIZE - 32, 64, ALWAYS, 2);
        Completion sent = Wait.completion(pair.client.completionQueue());
        assertTrue(sent.status() == CompletionStatus.LOC_PROT_ERR || sent.status() == CompletionStatus.WR_FLUSH_ERR,
            sent::toString);
        assertEquals(2, sent.context());
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 3);
        assertEquals(CompletionStatus.WR_FLUSH_ERR, Wait.completion(pair.client.completionQueue()).status());
        Memory.assertUntouched(pair.serverMemory, 0, 128);
        Wait.noEvent(pair.server);
    }

    /** A receive that extends beyond its region fails when a message reaches that part. */
    @Test
    void receiveOutsideTheRegionIsAnError() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, Pair.SIZE - 32, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        assertEquals(1, Wait.failure(pair.server.completionQueue()).context());
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
    }

    /** rpma_mr_reg(3): memory that was registered only for sending cannot be used for receiving. */
    @Test
    void receiveIntoARegionForSendingIsAnError() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion region = pair.own(pair.memory.region(pair.peer, 4096, Set.of(MemoryUsage.SEND)));
        pair.server.receive(region, 0, 64, 1);
        Memory.fill(pair.clientMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        assertEquals(1, Wait.failure(pair.server.completionQueue()).context());
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
        Memory.assertUntouched(region, 0, 64);
    }

    /** facts 2.7: deregistering with a posted receive succeeds and kills the queue pair later. */
    @Test
    void receiveInADeregisteredRegionIsAnError() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion region = pair.memory.region(pair.peer, 4096, Memory.ALL);
        var memory = region.memory();
        pair.server.receive(region, 0, 64, 1);
        region.close();
        Memory.fill(pair.clientMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 64, ALWAYS, 2);
        assertEquals(1, Wait.failure(pair.server.completionQueue()).context());
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
        assertEquals(0, memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
    }

    /** rpma_send(3): RPMA_E_PROVIDER - ibv_post_send(3) failed: the queue is full. Devices may give more slots than asked. */
    @ParameterizedTest
    @EnumSource(CompletionFlag.class)
    void sendQueueFillsUpAndLosesNothing(CompletionFlag flag) throws Exception {
        int asked = 4;
        Pair pair = pair(Pair.with()
            .client(config -> config.sendQueueSize(asked).completionQueueSize(512))
            .server(config -> config.receiveQueueSize(512).completionQueueSize(1024)));
        int posted = 0;
        RpmaException full = null;
        // The other side has not posted a receive, so no send leaves the queue.
        while (full == null && posted < 4096) {
            try {
                pair.client.send(pair.clientMemory, 0, posted % 64, flag, posted);
                posted++;
            } catch (RpmaException e) {
                full = e;
            }
        }
        assertTrue(full != null, "a queue of " + asked + " accepted " + posted);
        assertEquals(PROVIDER, full.error());
        assertTrue(posted >= asked, posted + " slots instead of " + asked);
        assertTrue(posted <= 511, posted + " slots instead of " + asked);
        for (int i = 0; i < posted; i++) {
            pair.server.receive(pair.serverMemory, i % 64 * 64L, 64, i);
        }
        List<Completion> received = Wait.successes(pair.server.completionQueue(), posted);
        for (int i = 0; i < posted; i++) {
            assertEquals(i % 64, received.get(i).byteLength());
        }
        if (flag == ALWAYS) {
            List<Completion> sent = Wait.successes(pair.client.completionQueue(), posted);
            for (int i = 0; i < posted; i++) {
                assertEquals(i, sent.get(i).context());
            }
            pair.exchange();
        }
        Wait.noCompletion(pair.client.completionQueue());
    }

    /** rpma_recv(3): RPMA_E_PROVIDER - ibv_post_recv(3) failed. */
    @Test
    void receiveQueueFillsUpAndLosesNothing() throws Exception {
        Pair pair = pair(Pair.with().server(config -> config.receiveQueueSize(4).completionQueueSize(512)));
        int posted = 0;
        RpmaException full = null;
        while (full == null && posted < 4096) {
            try {
                pair.server.receive(pair.serverMemory, 64L * (posted % 512), 64, posted);
                posted++;
            } catch (RpmaException e) {
                full = e;
            }
        }
        assertTrue(full != null, "a queue of 4 accepted " + posted);
        assertEquals(PROVIDER, full.error());
        assertTrue(posted >= 4, posted + " slots");
        Set<Long> buffers = new HashSet<>();
        for (int i = 0; i < posted; i++) {
            pair.client.send(pair.clientMemory, 0, 8, ALWAYS, i);
            Wait.success(pair.client.completionQueue());
            assertTrue(buffers.add(Wait.success(pair.server.completionQueue()).context()));
        }
        assertEquals(posted, buffers.size());
        pair.exchange();
    }

    /**
     * facts 2.6: the slots of unsignalled sends are released when a later signalled send has been polled. The test uses the whole
     * queue ten times.
     */
    @Test
    void signalledSendRetiresTheUnsignalledOnesBeforeIt() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.sendQueueSize(8)));
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 8; i++) {
                pair.server.receive(pair.serverMemory, i * 64L, 64, i);
            }
            for (int i = 0; i < 7; i++) {
                pair.client.send(pair.clientMemory, 0, 8, ON_ERROR, i);
            }
            pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 1000 + round);
            assertEquals(1000 + round, Wait.success(pair.client.completionQueue()).context());
            assertTrue(Wait.available(pair.client.completionQueue(), 8).isEmpty());
            Wait.successes(pair.server.completionQueue(), 8);
        }
    }

    /** A thousand messages with varying lengths pass through queues that wrap around. */
    @Test
    void queuesWrapAround() throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.sendQueueSize(3).receiveQueueSize(5).completionQueueSize(8)));
        for (int i = 0; i < 5; i++) {
            pair.server.receive(pair.serverMemory, i * 1024L, 1024, i);
        }
        for (int i = 0; i < 1000; i++) {
            int length = i * 37 % 1024;
            Memory.fill(pair.clientMemory, 0, length, i);
            pair.client.send(pair.clientMemory, 0, length, ALWAYS, i);
            Completion received = Wait.success(pair.server.completionQueue());
            assertEquals(length, received.byteLength());
            Memory.assertFilled(pair.serverMemory, received.context() * 1024, length, i);
            pair.server.receive(pair.serverMemory, received.context() * 1024, 1024, received.context());
            assertEquals(i, Wait.success(pair.client.completionQueue()).context());
        }
    }

    /** A message passes through queues of the smallest size. */
    @Test
    void queuesOfOneSlotWork() throws Exception {
        Pair pair = pair(Pair.with().both(config -> config.sendQueueSize(1).receiveQueueSize(1).completionQueueSize(2)));
        for (int i = 0; i < 20; i++) {
            pair.exchange();
        }
    }

    /** A connection without a send queue can still receive. */
    @Test
    void sendQueueMayBeEmpty() throws Exception {
        Pair pair = pair(Pair.with().server(config -> config.sendQueueSize(0)));
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 2);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        refused(PROVIDER, () -> pair.server.send(null, 0, 0, ALWAYS, 3));
    }

    /** A connection without its own receive queue can still send. */
    @Test
    void receiveQueueMayBeEmpty() throws Exception {
        Pair pair = pair(Pair.with().client(config -> config.receiveQueueSize(0).completionQueueSize(16)));
        assertNull(pair.client.receiveCompletionQueue());
        pair.server.receive(pair.serverMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 2);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        refused(PROVIDER, () -> pair.client.receive(pair.clientMemory, 0, 64, 3));
    }
}
