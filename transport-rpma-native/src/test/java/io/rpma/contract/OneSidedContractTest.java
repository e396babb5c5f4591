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

import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.CompletionFlag.ALWAYS;
import static io.rpma.CompletionFlag.ON_ERROR;
import static io.rpma.MemoryUsage.FLUSH_PERSISTENT;
import static io.rpma.MemoryUsage.FLUSH_VISIBILITY;
import static io.rpma.MemoryUsage.READ_DST;
import static io.rpma.MemoryUsage.READ_SRC;
import static io.rpma.MemoryUsage.RECV;
import static io.rpma.MemoryUsage.SEND;
import static io.rpma.MemoryUsage.WRITE_DST;
import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.NOT_SUPPORTED;
import static io.rpma.contract.Contract.refused;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests reads, writes, atomic writes and flushes. */
class OneSidedContractTest extends ContractCase {
    /** rpma_write(3). */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 64, 4096, 50_000})
    void writeArrivesAtItsOffset(int length) throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 1000, length, 1);
        pair.client.write(pair.atServer, 3001, pair.clientMemory, 1000, length, ALWAYS, 7);
        Completion completion = Wait.success(pair.client.completionQueue());
        assertEquals(7, completion.context());
        assertEquals(CompletionOpcode.RDMA_WRITE, completion.opcode());
        Memory.assertFilled(pair.serverMemory, 3001, length, 1);
        Memory.assertUntouched(pair.serverMemory, 0, 3001);
        Memory.assertUntouched(pair.serverMemory, 3001 + length, 500);
    }

    /** rpma_read(3). */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 64, 4096, 50_000})
    void readFetchesFromItsOffset(int length) throws Exception {
        Pair pair = pair();
        Memory.fill(pair.serverMemory, 1000, length, 2);
        pair.client.read(pair.clientMemory, 3001, pair.atServer, 1000, length, ALWAYS, 7);
        Completion completion = Wait.success(pair.client.completionQueue());
        assertEquals(7, completion.context());
        assertEquals(CompletionOpcode.RDMA_READ, completion.opcode());
        Memory.assertFilled(pair.clientMemory, 3001, length, 2);
        Memory.assertUntouched(pair.clientMemory, 0, 3001);
        Memory.assertUntouched(pair.clientMemory, 3001 + length, 500);
    }

    /** The other side's processor is not involved: there is no completion and no event, and no receive is consumed. */
    @Test
    void otherSideHearsNothing() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 60_000, 64, 1);
        pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 64, ALWAYS, 2);
        pair.client.read(pair.clientMemory, 0, pair.atServer, 0, 64, ALWAYS, 3);
        pair.client.atomicWrite(pair.atServer, 0, 4, ALWAYS, 4);
        pair.client.flush(pair.atServer, 0, 64, FlushType.VISIBILITY, ALWAYS, 5);
        Wait.successes(pair.client.completionQueue(), 4);
        Wait.noCompletion(pair.server.completionQueue());
        Wait.noEvent(pair.server);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 6);
        assertEquals(1, Wait.success(pair.server.completionQueue()).context());
    }

    /** Both sides can access each other's memory. */
    @Test
    void serverReachesTheClientToo() throws Exception {
        Pair pair = pair();
        Memory.fill(pair.serverMemory, 0, 100, 1);
        pair.server.write(pair.atClient, 200, pair.serverMemory, 0, 100, ALWAYS, 1);
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(pair.clientMemory, 200, 100, 1);
        pair.server.read(pair.serverMemory, 1000, pair.atClient, 200, 100, ALWAYS, 2);
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(pair.serverMemory, 1000, 100, 1);
    }

    /** The first and the last byte of a region are accessible. */
    @Test
    void regionsReachToTheirEnds() throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 0, Pair.SIZE, 1);
        pair.client.write(pair.atServer, 0, pair.clientMemory, 0, Pair.SIZE, ALWAYS, 1);
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(pair.serverMemory, 0, Pair.SIZE, 1);
        pair.client.write(pair.atServer, Pair.SIZE - 1, pair.clientMemory, Pair.SIZE - 1, 1, ALWAYS, 2);
        pair.client.read(pair.clientMemory, Pair.SIZE - 1, pair.atServer, Pair.SIZE - 1, 1, ALWAYS, 3);
        Wait.successes(pair.client.completionQueue(), 2);
    }

    /** rpma_write(3), rpma_write_with_imm(3), rpma_read(3): 0 bytes with src and dst NULL and all numbers 0. */
    @Test
    void emptyOperationsNeedNoMemory() throws Exception {
        Pair pair = pair();
        pair.server.receive(null, 0, 0, 9);
        pair.client.write(null, 0, null, 0, 0, ALWAYS, 1);
        pair.client.read(null, 0, null, 0, 0, ALWAYS, 2);
        pair.client.writeWithImmediate(null, 0, null, 0, 0, ALWAYS, 77, 3);
        List<Completion> done = Wait.successes(pair.client.completionQueue(), 3);
        assertEquals(1, done.get(0).context());
        assertEquals(2, done.get(1).context());
        assertEquals(3, done.get(2).context());
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(77, received.immediate());
        assertEquals(0, received.byteLength());
    }

    /** A length of 0 is also allowed with regions. */
    @Test
    void operationsOfNoBytesDoNothing() throws Exception {
        Pair pair = pair();
        pair.client.write(pair.atServer, 8, pair.clientMemory, 8, 0, ALWAYS, 1);
        pair.client.read(pair.clientMemory, 8, pair.atServer, 8, 0, ALWAYS, 2);
        assertEquals(1, Wait.success(pair.client.completionQueue()).context());
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        pair.exchange();
    }

    /** rpma_write(3), rpma_write_with_imm(3), rpma_read(3): RPMA_E_INVAL - one is NULL, but not all is zero. */
    @Test
    void halfOfAnEmptyOperationIsRefused() throws Exception {
        Pair pair = pair();
        Connection c = pair.client;
        LocalMemoryRegion here = pair.clientMemory;
        RemoteMemoryRegion there = pair.atServer;
        refused(INVALID, () -> c.write(null, 0, here, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.write(there, 0, null, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.write(null, 1, null, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.write(null, 0, null, 1, 0, ALWAYS, 1));
        refused(INVALID, () -> c.write(null, 0, null, 0, 1, ALWAYS, 1));
        refused(INVALID, () -> c.writeWithImmediate(null, 0, here, 0, 0, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(there, 0, null, 0, 0, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(null, 1, null, 0, 0, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(null, 0, null, 1, 0, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(null, 0, null, 0, 1, ALWAYS, 1, 1));
        refused(INVALID, () -> c.read(null, 0, there, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.read(here, 0, null, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.read(null, 1, null, 0, 0, ALWAYS, 1));
        refused(INVALID, () -> c.read(null, 0, null, 1, 0, ALWAYS, 1));
        refused(INVALID, () -> c.read(null, 0, null, 0, 1, ALWAYS, 1));
        pair.exchange();
    }

    /** The offsets and lengths are unsigned in C. */
    @Test
    void negativeNumbersAreRefused() throws Exception {
        Pair pair = pair();
        Connection c = pair.client;
        LocalMemoryRegion here = pair.clientMemory;
        RemoteMemoryRegion there = pair.atServer;
        refused(INVALID, () -> c.write(there, -1, here, 0, 8, ALWAYS, 1));
        refused(INVALID, () -> c.write(there, 0, here, -1, 8, ALWAYS, 1));
        refused(INVALID, () -> c.write(there, 0, here, 0, -1, ALWAYS, 1));
        refused(INVALID, () -> c.writeWithImmediate(there, -1, here, 0, 8, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(there, 0, here, -1, 8, ALWAYS, 1, 1));
        refused(INVALID, () -> c.writeWithImmediate(there, 0, here, 0, -1, ALWAYS, 1, 1));
        refused(INVALID, () -> c.read(here, -1, there, 0, 8, ALWAYS, 1));
        refused(INVALID, () -> c.read(here, 0, there, -1, 8, ALWAYS, 1));
        refused(INVALID, () -> c.read(here, 0, there, 0, -1, ALWAYS, 1));
        refused(INVALID, () -> c.atomicWrite(there, -8, 0, ALWAYS, 1));
        refused(INVALID, () -> c.flush(there, -1, 8, FlushType.VISIBILITY, ALWAYS, 1));
        refused(INVALID, () -> c.flush(there, 0, -1, FlushType.VISIBILITY, ALWAYS, 1));
        pair.exchange();
    }

    /**
     * rpma_write_with_imm(3): consumes a receive to notify the other side; opcode 129, byte_len is the number of written bytes.
     */
    @Test
    void writeWithImmediateTakesAReceive() throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 60_000, 64, -5);
        Memory.fill(pair.clientMemory, 0, 5000, 1);
        pair.client.writeWithImmediate(pair.atServer, 100, pair.clientMemory, 0, 5000, ALWAYS, 0x01020304, 6);
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(-5, received.context());
        assertEquals(CompletionOpcode.RECV_RDMA_WITH_IMM, received.opcode());
        assertEquals(5000, received.byteLength());
        assertTrue(received.hasImmediate());
        assertEquals(0x01020304, received.immediate());
        Memory.assertFilled(pair.serverMemory, 100, 5000, 1);
        Memory.assertUntouched(pair.serverMemory, 60_000, 64);
        Completion written = Wait.success(pair.client.completionQueue());
        assertEquals(6, written.context());
        assertEquals(CompletionOpcode.RDMA_WRITE, written.opcode());
    }

    /** The receive needs no memory, and the operation waits for a receive like a send. */
    @Test
    void writeWithImmediateWaitsForAReceive() throws Exception {
        Pair pair = pair();
        Memory.fill(pair.clientMemory, 0, 64, 1);
        pair.client.writeWithImmediate(pair.atServer, 0, pair.clientMemory, 0, 64, ALWAYS, 7, 1);
        Wait.noCompletion(pair.client.completionQueue());
        pair.server.receive(null, 0, 0, 2);
        Completion received = Wait.success(pair.server.completionQueue());
        assertEquals(2, received.context());
        assertEquals(7, received.immediate());
        assertEquals(64, received.byteLength());
        Memory.assertFilled(pair.serverMemory, 0, 64, 1);
        assertEquals(1, Wait.success(pair.client.completionQueue()).context());
    }

    /**
     * facts 2.6: a write and a send on one queue pair keep their order: when the message has arrived, the data has arrived too.
     */
    @Test
    void messageComesAfterTheWriteBeforeIt() throws Exception {
        Pair pair = pair();
        for (int i = 1; i <= 50; i++) {
            pair.server.receive(pair.serverMemory, 60_000, 64, i);
            Memory.fill(pair.clientMemory, 0, 8192, i);
            pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 8192, ON_ERROR, 0);
            pair.client.send(null, 0, 0, ALWAYS, i);
            Wait.success(pair.server.completionQueue());
            Memory.assertFilled(pair.serverMemory, 0, 8192, i);
            assertEquals(i, Wait.success(pair.client.completionQueue()).context());
        }
    }

    /** The operations of one queue pair are executed in order, so the result is that of the last write. */
    @Test
    void writesKeepTheirOrder() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 10; i++) {
            Memory.fill(pair.clientMemory, i * 256L, 256, i);
            pair.client.write(pair.atServer, 0, pair.clientMemory, i * 256L, 256, ALWAYS, i);
        }
        List<Completion> done = Wait.successes(pair.client.completionQueue(), 10);
        for (int i = 0; i < 10; i++) {
            assertEquals(i, done.get(i).context());
        }
        Memory.assertFilled(pair.serverMemory, 0, 256, 9);
    }

    /** A read returns the data that was written before it. */
    @Test
    void readAfterWriteSeesIt() throws Exception {
        Pair pair = pair();
        for (int i = 1; i <= 20; i++) {
            Memory.fill(pair.clientMemory, 0, 4096, i);
            pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 4096, ON_ERROR, 1);
            pair.client.read(pair.clientMemory, 8192, pair.atServer, 0, 4096, ALWAYS, 2);
            assertEquals(2, Wait.success(pair.client.completionQueue()).context());
            Memory.assertFilled(pair.clientMemory, 8192, 4096, i);
        }
    }

    /** rpma_atomic_write(3): exactly 8 bytes; the value is a long in the byte order of this host. */
    @ParameterizedTest
    @ValueSource(longs = {0x0102030405060708L, -1, Long.MIN_VALUE, 1})
    void atomicWriteStoresTheValue(long value) throws Exception {
        Pair pair = pair();
        pair.client.atomicWrite(pair.atServer, 64, value, ALWAYS, 9);
        Completion completion = Wait.success(pair.client.completionQueue());
        assertEquals(9, completion.context());
        assertTrue(completion.opcode() == CompletionOpcode.RDMA_WRITE || completion.opcode() == CompletionOpcode.ATOMIC_WRITE,
            completion::toString);
        assertEquals(value, pair.serverMemory.memory().get(JAVA_LONG, 64));
        Memory.assertUntouched(pair.serverMemory, 0, 64);
        Memory.assertUntouched(pair.serverMemory, 72, 64);
    }

    /** rpma_atomic_write(3): RPMA_E_INVAL - dst_offset is not aligned to 8 bytes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 9, 1023})
    void atomicWriteIsAligned(int offset) throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.atomicWrite(pair.atServer, offset, 1, ALWAYS, 1));
        Memory.assertUntouched(pair.serverMemory, 0, 2048);
    }

    /** rpma_atomic_write(3): RPMA_E_INVAL - dst is NULL. */
    @Test
    void atomicWriteNeedsATarget() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.atomicWrite(null, 0, 1, ALWAYS, 1));
        pair.exchange();
    }

    /** An atomic write is executed after the writes before it. */
    @Test
    void atomicWriteComesAfterTheWritesBeforeIt() throws Exception {
        Pair pair = pair();
        for (int i = 1; i <= 20; i++) {
            Memory.fill(pair.clientMemory, 0, 4096, i);
            pair.client.write(pair.atServer, 4096, pair.clientMemory, 0, 4096, ON_ERROR, 1);
            pair.client.atomicWrite(pair.atServer, 0, i, ALWAYS, 2);
            Wait.success(pair.client.completionQueue());
            assertEquals(i, pair.serverMemory.memory().get(JAVA_LONG, 0));
            Memory.assertFilled(pair.serverMemory, 4096, 4096, i);
        }
    }

    /** The last eight bytes of a region are the last valid position for an atomic write. */
    @Test
    void atomicWriteReachesTheEndAndNotFurther() throws Exception {
        Pair pair = pair();
        pair.client.atomicWrite(pair.atServer, Pair.SIZE - 8, 5, ALWAYS, 1);
        Wait.success(pair.client.completionQueue());
        assertEquals(5, pair.serverMemory.memory().get(JAVA_LONG, Pair.SIZE - 8));
        pair.client.atomicWrite(pair.atServer, Pair.SIZE, 5, ALWAYS, 2);
        assertEquals(CompletionStatus.REM_ACCESS_ERR, Wait.completion(pair.client.completionQueue()).status());
    }

    /** rpma_flush(3): the region must allow it. */
    @Test
    void flushToVisibilityNeedsTheUsage() throws Exception {
        Pair pair = pair();
        RemoteMemoryRegion with = target(pair, WRITE_DST, FLUSH_VISIBILITY);
        RemoteMemoryRegion without = target(pair, WRITE_DST, READ_SRC);
        pair.client.write(with, 0, pair.clientMemory, 0, 64, ON_ERROR, 1);
        pair.client.flush(with, 0, 64, FlushType.VISIBILITY, ALWAYS, 2);
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        refused(NOT_SUPPORTED, () -> pair.client.flush(without, 0, 64, FlushType.VISIBILITY, ALWAYS, 3));
        pair.exchange();
    }

    /** rpma_flush(3): RPMA_E_NOSUPP - type is PERSISTENT and the direct write to pmem is not supported. */
    @Test
    void flushToPersistenceNeedsUsageAndConfiguration() throws Exception {
        assumeTrue(Memory.IS_PERSISTENCE_TAKEN_ON_TRUST, "the device requires persistent memory");
        Pair pair = pair();
        RemoteMemoryRegion with = target(pair, WRITE_DST, FLUSH_PERSISTENT);
        RemoteMemoryRegion without = target(pair, WRITE_DST, FLUSH_VISIBILITY);
        refused(NOT_SUPPORTED, () -> pair.client.flush(with, 0, 64, FlushType.PERSISTENT, ALWAYS, 1));
        apply(pair.client, true);
        pair.client.flush(with, 0, 64, FlushType.PERSISTENT, ALWAYS, 2);
        assertEquals(2, Wait.success(pair.client.completionQueue()).context());
        refused(NOT_SUPPORTED, () -> pair.client.flush(without, 0, 64, FlushType.PERSISTENT, ALWAYS, 3));
        apply(pair.client, false);
        refused(NOT_SUPPORTED, () -> pair.client.flush(with, 0, 64, FlushType.PERSISTENT, ALWAYS, 4));
        pair.exchange();
    }

    private static void apply(Connection connection, boolean supported) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(1);
        try (PeerConfig theirs = Contract.PROVIDER.newPeerConfig().directWriteToPmem(supported)) {
            theirs.descriptor(descriptor);
        }
        try (PeerConfig opened = Contract.PROVIDER.peerConfigFromDescriptor(descriptor.flip())) {
            connection.applyRemotePeerConfig(opened);
        }
    }

    /** rpma_conn_apply_remote_peer_cfg(3): RPMA_E_INVAL - pcfg is NULL. */
    @Test
    void noPeerConfigIsRefused() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.applyRemotePeerConfig(null));
    }

    /** rpma_flush(3): RPMA_E_INVAL - dst is NULL, unknown type value. */
    @Test
    void flushNeedsATargetAndAType() throws Exception {
        Pair pair = pair();
        refused(INVALID, () -> pair.client.flush(null, 0, 8, FlushType.VISIBILITY, ALWAYS, 1));
        refused(INVALID, () -> pair.client.flush(pair.atServer, 0, 8, null, ALWAYS, 1));
        pair.exchange();
    }

    /** rpma_flush(3) is a read of eight bytes if the device has no flush operation. */
    @Test
    void flushCompletesAsAReadOrAFlush() throws Exception {
        Pair pair = pair();
        pair.client.flush(pair.atServer, 0, Pair.SIZE, FlushType.VISIBILITY, ALWAYS, 3);
        Completion completion = Wait.success(pair.client.completionQueue());
        assertEquals(3, completion.context());
        assertTrue(completion.opcode() == CompletionOpcode.RDMA_READ || completion.opcode() == CompletionOpcode.FLUSH,
            completion::toString);
    }

    /** An access that the other side's region does not allow. */
    interface Access {
        void post(Pair pair) throws Exception;
    }

    private static Named<Access> access(String what, Access access) {
        return Named.of(what, access);
    }

    static Stream<Named<Access>> forbidden() {
        return Stream.of(
            access("write past the end", p -> p.client.write(p.atServer, Pair.SIZE - 32, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("write far outside", p -> p.client.write(p.atServer, 1L << 30, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("write at the greatest offset",
                p -> p.client.write(p.atServer, Long.MAX_VALUE, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("read past the end", p -> p.client.read(p.clientMemory, 0, p.atServer, Pair.SIZE - 32, 64, ALWAYS, 1)),
            access("read far outside", p -> p.client.read(p.clientMemory, 0, p.atServer, 1L << 30, 64, ALWAYS, 1)),
            access("write to READ_SRC", p -> p.client.write(target(p, READ_SRC), 0, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("write to SEND and RECV", p -> p.client.write(target(p, SEND, RECV), 0, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("read of WRITE_DST", p -> p.client.read(p.clientMemory, 0, target(p, WRITE_DST), 0, 64, ALWAYS, 1)),
            access("read of READ_DST", p -> p.client.read(p.clientMemory, 0, target(p, READ_DST), 0, 64, ALWAYS, 1)),
            access("atomic write to READ_SRC", p -> p.client.atomicWrite(target(p, READ_SRC), 0, 1, ALWAYS, 1)),
            access("unknown key", p -> p.client.write(forged(p, 16, 0x7ffffff), 0, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("another address", p -> p.client.write(forged(p, 0, 64), 0, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("read at another address", p -> p.client.read(p.clientMemory, 0, forged(p, 0, 64), 0, 64, ALWAYS, 1)),
            access("greater size", p -> p.client.write(forged(p, 8, 1L << 40), Pair.SIZE, p.clientMemory, 0, 64, ALWAYS, 1)),
            access("deregistered region", p -> {
                LocalMemoryRegion region = p.memory.region(p.peer, 4096, Memory.ALL);
                RemoteMemoryRegion remote = p.own(Pair.remote(region));
                region.close();
                p.client.write(remote, 0, p.clientMemory, 0, 64, ALWAYS, 1);
            }),
            access("region of another peer", p -> {
                var stranger = p.own(Contract.DEVICE.newPeer());
                LocalMemoryRegion region = p.own(p.memory.region(stranger, 4096, Memory.ALL));
                p.client.write(p.own(Pair.remote(region)), 0, p.clientMemory, 0, 64, ALWAYS, 1);
            }));
    }

    /**
     * facts 2.6: the other side checks bounds, usage and key: the status here is REM_ACCESS_ERR, the queue pairs fail, the other
     * side's receives are flushed, and there is no connection event. Nothing is written.
     */
    @ParameterizedTest
    @MethodSource("forbidden")
    void accessThatIsNotAllowedKillsTheConnection(Access access) throws Exception {
        Pair pair = pair();
        pair.server.receive(pair.serverMemory, 0, 64, 10);
        pair.server.receive(pair.serverMemory, 0, 64, 11);
        Memory.fill(pair.clientMemory, 0, 64, 1);
        access.post(pair);
        Completion refusal = Wait.completion(pair.client.completionQueue());
        assertEquals(CompletionStatus.REM_ACCESS_ERR, refusal.status());
        assertEquals(1, refusal.context());
        Set<Long> flushed = new HashSet<>();
        for (Completion completion : Wait.completions(pair.server.completionQueue(), 2)) {
            assertEquals(CompletionStatus.WR_FLUSH_ERR, completion.status());
            flushed.add(completion.context());
        }
        assertEquals(Set.of(10L, 11L), flushed);
        Memory.assertUntouched(pair.serverMemory, 0, Pair.SIZE);
        Wait.noEvent(pair.client);
        Wait.noEvent(pair.server);
        pair.client.write(pair.atServer, 0, pair.clientMemory, 0, 64, ALWAYS, 2);
        assertEquals(CompletionStatus.WR_FLUSH_ERR, Wait.completion(pair.client.completionQueue()).status());
        Memory.assertUntouched(pair.serverMemory, 0, Pair.SIZE);
    }

    /** Work requests behind the refused access are flushed and not executed. */
    @Test
    void whatIsBehindAForbiddenAccessIsFlushed() throws Exception {
        Pair pair = pair();
        RemoteMemoryRegion readOnly = target(pair, READ_SRC);
        Memory.fill(pair.clientMemory, 0, 64, 1);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 1); // This send stalls, so that all work requests are in the queue.
        pair.client.write(readOnly, 0, pair.clientMemory, 0, 64, ON_ERROR, 2);
        pair.client.write(pair.atServer, 4096, pair.clientMemory, 0, 64, ON_ERROR, 3);
        pair.client.read(pair.clientMemory, 4096, pair.atServer, 0, 64, ALWAYS, 4);
        pair.server.receive(pair.serverMemory, 0, 64, 5);
        List<Completion> done = Wait.completions(pair.client.completionQueue(), 4);
        assertEquals(List.of(1L, 2L, 3L, 4L), done.stream().map(Completion::context).toList());
        assertEquals(List.of(CompletionStatus.SUCCESS, CompletionStatus.REM_ACCESS_ERR, CompletionStatus.WR_FLUSH_ERR,
            CompletionStatus.WR_FLUSH_ERR), done.stream().map(Completion::status).toList());
        Memory.assertUntouched(pair.serverMemory, 4096, 64);
    }

    /** A read before the refused access completes. */
    @Test
    void whatIsBeforeAForbiddenAccessCompletes() throws Exception {
        Pair pair = pair();
        RemoteMemoryRegion readOnly = target(pair, READ_SRC);
        Memory.fill(pair.serverMemory, 4096, 64, 1);
        pair.client.send(pair.clientMemory, 0, 8, ALWAYS, 1); // This send stalls, so that all work requests are in the queue.
        pair.client.read(pair.clientMemory, 4096, pair.atServer, 4096, 64, ALWAYS, 2);
        pair.client.write(readOnly, 0, pair.clientMemory, 0, 64, ALWAYS, 3);
        pair.server.receive(pair.serverMemory, 0, 64, 5);
        List<Completion> done = Wait.completions(pair.client.completionQueue(), 3);
        assertEquals(List.of(1L, 2L, 3L), done.stream().map(Completion::context).toList());
        assertEquals(List.of(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS, CompletionStatus.REM_ACCESS_ERR),
            done.stream().map(Completion::status).toList());
        Memory.assertFilled(pair.clientMemory, 4096, 64, 1);
        Wait.noEvent(pair.client);
    }

    /**
     * facts 2.6: librpma does not check the local side either, but the device does (rxe occasionally reports a flush instead).
     */
    @Test
    void writeFromOutsideTheRegionIsAProtectionError() throws Exception {
        Pair pair = pair();
        pair.client.write(pair.atServer, 0, pair.clientMemory, Pair.SIZE - 32, 64, ALWAYS, 1);
        Completion written = Wait.completion(pair.client.completionQueue());
        assertTrue(written.status() == CompletionStatus.LOC_PROT_ERR || written.status() == CompletionStatus.WR_FLUSH_ERR,
            written::toString);
        Memory.assertUntouched(pair.serverMemory, 0, 64);
    }

    /** A read whose target is outside its region. */
    @Test
    void readToOutsideTheRegionIsAProtectionError() throws Exception {
        Pair pair = pair();
        pair.client.read(pair.clientMemory, Pair.SIZE - 32, pair.atServer, 0, 64, ALWAYS, 1);
        assertEquals(CompletionStatus.LOC_PROT_ERR, Wait.completion(pair.client.completionQueue()).status());
    }

    /** rpma_mr_reg(3): the target of a read must be memory that was registered for it. */
    @Test
    void readIntoARegionForReadingFromIsAProtectionError() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion region = pair.own(pair.memory.region(pair.peer, 4096, Set.of(READ_SRC)));
        Memory.fill(pair.serverMemory, 0, 64, 1);
        pair.client.read(region, 0, pair.atServer, 0, 64, ALWAYS, 1);
        assertEquals(CompletionStatus.LOC_PROT_ERR, Wait.completion(pair.client.completionQueue()).status());
        Memory.assertUntouched(region, 0, 64);
    }

    /** Each side only needs the usages for its part of the operation. */
    @Test
    void usagesThatAreNeededAreEnough() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion source = pair.own(pair.memory.region(pair.peer, 4096, Set.of(MemoryUsage.WRITE_SRC)));
        LocalMemoryRegion landing = pair.own(pair.memory.region(pair.peer, 4096, Set.of(READ_DST)));
        LocalMemoryRegion written = pair.own(pair.memory.region(pair.peer, 4096, Set.of(WRITE_DST)));
        LocalMemoryRegion read = pair.own(pair.memory.region(pair.peer, 4096, Set.of(READ_SRC)));
        Memory.fill(source, 0, 64, 1);
        Memory.fill(read, 0, 64, 2);
        pair.client.write(pair.own(Pair.remote(written)), 0, source, 0, 64, ALWAYS, 1);
        pair.client.read(landing, 0, pair.own(Pair.remote(read)), 0, 64, ALWAYS, 2);
        Wait.successes(pair.client.completionQueue(), 2);
        Memory.assertFilled(written, 0, 64, 1);
        Memory.assertFilled(landing, 0, 64, 2);
    }

    /** Many regions of one side are accessible from the other side. */
    @Test
    void manyRegionsAreReached() throws Exception {
        Pair pair = pair();
        for (int i = 0; i < 40; i++) {
            LocalMemoryRegion region = pair.own(pair.memory.region(pair.peer, 4096, Memory.ALL));
            Memory.fill(pair.clientMemory, 0, 64, i);
            pair.client.write(pair.own(Pair.remote(region)), 64, pair.clientMemory, 0, 64, ALWAYS, i);
            assertEquals(i, Wait.success(pair.client.completionQueue()).context());
            Memory.assertFilled(region, 64, 64, i);
        }
        assertFalse(Poll.readable(pair.server.eventFd()));
    }

    private static RemoteMemoryRegion target(Pair pair, MemoryUsage... usages) throws RpmaException {
        return pair.own(Pair.remote(pair.own(pair.memory.region(pair.peer, 4096, Set.of(usages)))));
    }

    /** Returns the server's region with a forged descriptor, as an attacker would send it. */
    private static RemoteMemoryRegion forged(Pair pair, int field, long value) throws RpmaException {
        ByteBuffer descriptor = ByteBuffer.allocate(21).order(ByteOrder.LITTLE_ENDIAN);
        pair.serverMemory.descriptor(descriptor);
        if (field == 16) {
            descriptor.putInt(16, descriptor.getInt(16) ^ (int) value);
        } else {
            descriptor.putLong(field, value);
        }
        return pair.own(Contract.PROVIDER.openRemoteRegion(descriptor.flip()));
    }
}
