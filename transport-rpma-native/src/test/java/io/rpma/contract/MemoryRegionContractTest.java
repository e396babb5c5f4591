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
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RemoteMemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.NOT_SUPPORTED;
import static io.rpma.contract.Contract.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Tests local memory regions, their descriptors, and the remote regions that are opened from them. */
class MemoryRegionContractTest extends ContractCase {
    private static final int DESCRIPTOR = 21;

    /** rpma_mr_reg(3): RPMA_E_INVAL - ptr is NULL. */
    @Test
    void noMemoryIsRefused() {
        refused(INVALID, () -> peer().register(null, Memory.ALL));
        refused(INVALID, () -> peer().register(MemorySegment.NULL.reinterpret(4096), Memory.ALL));
    }

    /** rpma_mr_reg(3): RPMA_E_INVAL - size equals 0. */
    @Test
    void emptyMemoryIsRefused() {
        refused(INVALID, () -> peer().register(memory().take(4096).asSlice(0, 0), Memory.ALL));
    }

    /** Memory on the Java heap is refused, because the garbage collector can move it. */
    @Test
    void heapMemoryIsRefused() {
        refused(INVALID, () -> peer().register(MemorySegment.ofArray(new byte[4096]), Memory.ALL));
    }

    /** src/mr.c: usage == 0 is RPMA_E_INVAL, which rpma_mr_reg(3) does not say. */
    @Test
    void memoryForNothingIsRefused() {
        refused(INVALID, () -> peer().register(memory().take(4096), Set.of()));
        refused(INVALID, () -> peer().register(memory().take(4096), null));
    }

    /** ibv_reg_mr(3): access rights that the mapping does not have are refused, here with EFAULT. */
    @ParameterizedTest
    @EnumSource(value = MemoryUsage.class, names = {"READ_DST", "WRITE_DST", "RECV"})
    void readOnlyMemoryIsRefusedIfItIsToBeWritten(MemoryUsage usage, @TempDir Path folder) throws Exception {
        Path path = Files.write(folder.resolve("memory"), new byte[4096]);
        try (FileChannel file = FileChannel.open(path); Arena arena = Arena.ofShared()) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_ONLY, 0, 4096, arena);
            refused(RpmaError.PROVIDER, () -> peer().register(memory, Set.of(usage)));
            refused(RpmaError.PROVIDER, () -> peer().register(memory, Set.of(MemoryUsage.SEND, usage)));
        }
    }

    /** rpma_mr_get_ptr(3), rpma_mr_get_size(3). */
    @Test
    void regionKnowsItsMemory() throws Exception {
        MemorySegment memory = memory().take(12345);
        LocalMemoryRegion region = scope.own(peer().register(memory, Set.of(MemoryUsage.SEND, MemoryUsage.RECV)));
        assertEquals(memory.address(), region.address());
        assertEquals(12345, region.size());
        assertEquals(memory.address(), region.memory().address());
        assertEquals(12345, region.memory().byteSize());
        assertEquals(EnumSet.of(MemoryUsage.SEND, MemoryUsage.RECV), region.usages());
        assertSame(peer(), region.peer());
    }

    /** rpma_mr_reg(3): each usage may stand alone. */
    @ParameterizedTest
    @EnumSource(MemoryUsage.class)
    void everyUsageRegisters(MemoryUsage usage) throws Exception {
        assumeTrue(usage != MemoryUsage.FLUSH_PERSISTENT || Memory.IS_PERSISTENCE_TAKEN_ON_TRUST,
            "the device requires persistent memory");
        LocalMemoryRegion region = region(4096, usage);
        assertEquals(Set.of(usage), region.usages());
        assertEquals(usage.bit(), descriptor(region).get(20) & 0xff);
    }

    /** rpma_mr_get_descriptor_size(3): 21 bytes; rpma_mr_get_descriptor(3): address, size, key, usage, little endian. */
    @Test
    void descriptorIsLaidOutAsTheLibrarysOwn() throws Exception {
        LocalMemoryRegion region = region(10_000, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST);
        assertEquals(DESCRIPTOR, region.descriptorSize());
        ByteBuffer descriptor = descriptor(region).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(region.address(), descriptor.getLong(0));
        assertEquals(10_000, descriptor.getLong(8));
        assertEquals(1 + 8, descriptor.get(20));
    }

    /** Two regions of the same memory differ in their keys. */
    @Test
    void eachRegistrationHasAKeyOfItsOwn() throws Exception {
        MemorySegment memory = memory().take(4096);
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            LocalMemoryRegion region = scope.own(peer().register(memory, Memory.ALL));
            keys.add(descriptor(region).order(ByteOrder.LITTLE_ENDIAN).getInt(16));
        }
        assertEquals(8, keys.size());
    }

    @Test
    void descriptorGoesToThePositionOfItsTarget() throws Exception {
        LocalMemoryRegion region = region(4096);
        for (ByteBuffer target : List.of(ByteBuffer.allocate(40), ByteBuffer.allocateDirect(40))) {
            target.position(5).limit(5 + DESCRIPTOR);
            region.descriptor(target);
            assertEquals(5 + DESCRIPTOR, target.position());
            assertEquals(descriptor(region), target.slice(5, DESCRIPTOR));
            assertEquals(0, target.get(4));
            assertEquals(0, target.clear().get(5 + DESCRIPTOR));
        }
    }

    /** rpma_mr_get_descriptor(3): RPMA_E_INVAL - desc is NULL; here a buffer also knows its end. */
    @Test
    void descriptorNeedsRoom() throws Exception {
        LocalMemoryRegion region = region(4096);
        ByteBuffer small = ByteBuffer.allocate(DESCRIPTOR).position(1);
        refused(INVALID, () -> region.descriptor(small));
        assertEquals(1, small.position());
        refused(INVALID, () -> region.descriptor(null));
        refused(INVALID, () -> region.descriptor(ByteBuffer.allocate(DESCRIPTOR).asReadOnlyBuffer()));
    }

    /** rpma_mr_remote_from_descriptor(3), rpma_mr_remote_get_size(3). */
    @Test
    void remoteRegionKnowsItsSize() throws Exception {
        LocalMemoryRegion region = region(7777);
        ByteBuffer descriptor = ByteBuffer.allocate(40).position(3);
        region.descriptor(descriptor);
        descriptor.flip().position(3);
        try (RemoteMemoryRegion remote = PROVIDER.openRemoteRegion(descriptor)) {
            assertEquals(7777, remote.size());
            assertEquals(3, descriptor.position(), "the position does not move");
        }
        ByteBuffer direct = ByteBuffer.allocateDirect(DESCRIPTOR);
        region.descriptor(direct);
        try (RemoteMemoryRegion remote = PROVIDER.openRemoteRegion(direct.flip().asReadOnlyBuffer())) {
            assertEquals(7777, remote.size());
        }
    }

    /** rpma_mr_remote_get_flush_type(3). */
    @Test
    void remoteRegionKnowsItsFlushTypes() throws Exception {
        for (Set<MemoryUsage> flushes : List.of(EnumSet.noneOf(MemoryUsage.class), EnumSet.of(MemoryUsage.FLUSH_VISIBILITY),
            EnumSet.of(MemoryUsage.FLUSH_PERSISTENT),
            EnumSet.of(MemoryUsage.FLUSH_VISIBILITY, MemoryUsage.FLUSH_PERSISTENT))) {
            Set<MemoryUsage> usages = EnumSet.of(MemoryUsage.WRITE_DST);
            usages.addAll(flushes);
            if (flushes.contains(MemoryUsage.FLUSH_PERSISTENT) && !Memory.IS_PERSISTENCE_TAKEN_ON_TRUST) {
                continue;
            }
            try (LocalMemoryRegion region = memory().region(peer(), 4096, usages);
                RemoteMemoryRegion remote = Pair.remote(region)) {
                assertEquals(flushes, remote.flushUsages());
            }
        }
    }

    /** If a device executes flushes itself, it refuses ordinary memory, and the exception says what to do. */
    @Test
    void memoryThatIsNotPersistentIsRefusedByADeviceThatKnows() throws Exception {
        assumeFalse(Memory.IS_PERSISTENCE_TAKEN_ON_TRUST, "memory is taken for persistent on trust");
        RpmaException refusal = refused(RpmaError.PROVIDER,
            () -> memory().region(peer(), 4096, EnumSet.of(MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_PERSISTENT)));
        assertTrue(refusal.getMessage().contains("omit that usage"), refusal.getMessage());
    }

    /** rpma_mr_remote_from_descriptor(3): RPMA_E_INVAL - incompatible descriptor size (the library lets longer ones pass). */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 20, 22, 42})
    void descriptorOfAnotherSizeIsRefused(int size) {
        ByteBuffer descriptor = ByteBuffer.allocate(size);
        if (size > 20) {
            descriptor.put(20, (byte) 0xff);
        }
        refused(INVALID, () -> PROVIDER.openRemoteRegion(descriptor));
    }

    /** rpma_mr_remote_from_descriptor(3): RPMA_E_INVAL - desc is NULL. */
    @Test
    void noDescriptorIsRefused() {
        refused(INVALID, () -> PROVIDER.openRemoteRegion(null));
    }

    /** The man page promises RPMA_E_NOSUPP for a usage of 0; the library returns RPMA_E_INVAL. */
    @Test
    void descriptorWithoutUsageIsRefused() throws Exception {
        ByteBuffer descriptor = descriptor(region(4096));
        descriptor.put(20, (byte) 0);
        refused(INVALID, () -> PROVIDER.openRemoteRegion(descriptor));
    }

    /** rpma_mr_remote_delete(3). */
    @Test
    void closedRemoteRegionIsRefused() throws Exception {
        Pair pair = pair();
        RemoteMemoryRegion remote = Pair.remote(pair.serverMemory);
        remote.close();
        remote.close();
        refused(INVALID, () -> pair.client.write(remote, 0, pair.clientMemory, 0, 8, CompletionFlag.ALWAYS, 1));
        refused(INVALID, () -> pair.client.read(pair.clientMemory, 0, remote, 0, 8, CompletionFlag.ALWAYS, 1));
        refused(INVALID, () -> pair.client.writeWithImmediate(remote, 0, pair.clientMemory, 0, 8, CompletionFlag.ALWAYS, 1, 1));
        refused(INVALID, () -> pair.client.atomicWrite(remote, 0, 1, CompletionFlag.ALWAYS, 1));
        pair.exchange();
    }

    /** rpma_mr_dereg(3): the handle becomes invalid, and the memory stays. */
    @Test
    void deregisteredRegionIsRefused() throws Exception {
        Pair pair = pair();
        LocalMemoryRegion region = pair.memory.region(pair.peer, 4096, Memory.ALL);
        MemorySegment memory = region.memory();
        region.close();
        region.close();
        memory.fill((byte) 7);
        refused(INVALID, () -> pair.client.send(region, 0, 8, CompletionFlag.ALWAYS, 1));
        refused(INVALID, () -> pair.client.receive(region, 0, 8, 1));
        refused(INVALID, () -> pair.client.write(pair.atServer, 0, region, 0, 8, CompletionFlag.ALWAYS, 1));
        refused(INVALID, () -> pair.client.read(region, 0, pair.atServer, 0, 8, CompletionFlag.ALWAYS, 1));
        refused(INVALID, () -> region.descriptor(ByteBuffer.allocate(DESCRIPTOR)));
        refused(INVALID, () -> region.advise(0, 8, 0, 0));
        pair.exchange();
    }

    /** rpma_mr_advise(3): RPMA_E_NOSUPP if the device does not support on-demand paging. */
    @Test
    void adviceNeedsOnDemandPaging() throws Exception {
        LocalMemoryRegion region = region(4096);
        if (!Contract.DEVICE.isOnDemandPagingCapable()) {
            refused(NOT_SUPPORTED, () -> region.advise(0, 4096, 0, 0));
        }
    }

    /** rpma_mr_reg(3) requires no alignment. */
    @Test
    void anyAddressAndSizeWillDo() throws Exception {
        Pair pair = pair();
        MemorySegment memory = pair.memory.take(8192);
        LocalMemoryRegion from = pair.own(pair.peer.register(memory.asSlice(3, 101), Memory.ALL));
        LocalMemoryRegion to = pair.own(pair.peer.register(memory.asSlice(5001, 77), Memory.ALL));
        Memory.fill(from, 1, 77, 5);
        pair.server.receive(to, 0, 77, 1);
        pair.client.send(from, 1, 77, CompletionFlag.ALWAYS, 2);
        Wait.success(pair.server.completionQueue());
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(to, 0, 77, 5);
        assertEquals(0, memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 5000));
        assertEquals(0, memory.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 5078));
    }

    /** Any kind of memory can be registered, and accessed by messages and by one-sided operations. */
    @Test
    void memoryFromElsewhereWorks() throws Exception {
        Pair pair = pair();
        Arena arena = pair.own(Arena.ofShared());
        LocalMemoryRegion from = pair.own(pair.peer.register(arena.allocate(10_000), Memory.ALL));
        LocalMemoryRegion to = pair.own(pair.peer.register(arena.allocate(10_000), Memory.ALL));
        RemoteMemoryRegion remote = pair.own(Pair.remote(to));
        Memory.fill(from, 0, 10_000, 1);
        pair.server.receive(to, 0, 5000, 1);
        pair.client.send(from, 0, 5000, CompletionFlag.ALWAYS, 2);
        Wait.success(pair.server.completionQueue());
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(to, 0, 5000, 1);
        Memory.fill(from, 0, 10_000, 2);
        pair.client.write(remote, 0, from, 0, 10_000, CompletionFlag.ALWAYS, 3);
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(to, 0, 10_000, 2);
        Memory.fill(to, 100, 1000, 3);
        pair.client.read(from, 0, remote, 100, 1000, CompletionFlag.ALWAYS, 4);
        Wait.success(pair.client.completionQueue());
        Memory.assertFilled(from, 0, 1000, 3);
    }

    /** A direct buffer can be registered like other memory. */
    @Test
    void directBuffersCanBeRegistered() throws Exception {
        Pair pair = pair();
        ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
        LocalMemoryRegion region = pair.own(pair.peer.register(MemorySegment.ofBuffer(buffer), Memory.ALL));
        pair.server.receive(region, 0, 4096, 1);
        Memory.fill(pair.clientMemory, 0, 4096, 9);
        pair.client.send(pair.clientMemory, 0, 4096, CompletionFlag.ALWAYS, 2);
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(region, 0, 4096, 9);
        assertNotEquals(0, buffer.get(0));
    }

    /** The same memory may be registered more than once, for different usages. */
    @Test
    void overlappingRegionsWork() throws Exception {
        Pair pair = pair();
        MemorySegment memory = pair.memory.take(8192);
        LocalMemoryRegion whole = pair.own(pair.peer.register(memory, Set.of(MemoryUsage.RECV)));
        LocalMemoryRegion part = pair.own(pair.peer.register(memory.asSlice(4096), Set.of(MemoryUsage.SEND)));
        pair.client.receive(whole, 4096, 64, 1);
        Memory.fill(pair.serverMemory, 0, 64, 3);
        pair.server.send(pair.serverMemory, 0, 64, CompletionFlag.ALWAYS, 2);
        Wait.success(pair.client.completionQueue());
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(part, 0, 64, 3);
        pair.server.receive(pair.serverMemory, 4096, 64, 3);
        pair.client.send(part, 0, 64, CompletionFlag.ALWAYS, 4);
        Wait.success(pair.server.completionQueue());
        Memory.assertFilled(pair.serverMemory, 4096, 64, 3);
    }

    /**
     * rpma_mr_dereg(3) releases everything: the test registers far more regions one after another than a small table could hold.
     */
    @Test
    void regionsComeAndGo() throws Exception {
        MemorySegment memory = memory().take(4096);
        Peer peer = peer();
        for (int round = 0; round < 20; round++) {
            List<LocalMemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                regions.add(peer.register(memory, Memory.ALL));
            }
            for (LocalMemoryRegion region : regions) {
                region.close();
            }
        }
        assertTrue(region(4096).size() == 4096);
    }

    /** rpma_peer_new(3): a region only works with connections of its own peer; the device detects a violation, not librpma. */
    @Test
    void regionOfAnotherPeerIsOfNoUse() throws Throwable {
        LocalMemoryRegion stranger = region(4096);
        Pair sending = pair();
        sending.server.receive(sending.serverMemory, 0, 64, 1);
        fails(sending, () -> sending.client.send(stranger, 0, 8, CompletionFlag.ALWAYS, 2));
        Pair writing = pair();
        fails(writing, () -> writing.client.write(writing.atServer, 0, stranger, 0, 8, CompletionFlag.ALWAYS, 2));
        Pair reading = pair();
        Memory.fill(reading.serverMemory, 0, 8, 1);
        fails(reading, () -> reading.client.read(stranger, 0, reading.atServer, 0, 8, CompletionFlag.ALWAYS, 2));
        Pair receiving = pair();
        receiving.server.receive(stranger, 0, 64, 1);
        Memory.fill(receiving.clientMemory, 0, 8, 1);
        fails(receiving, () -> receiving.client.send(receiving.clientMemory, 0, 8, CompletionFlag.ALWAYS, 2));
        assertEquals(1, Wait.failure(receiving.server.completionQueue()).context());
        Memory.assertUntouched(stranger, 0, 4096);
        Memory.assertUntouched(writing.serverMemory, 0, 64);
    }

    private static void fails(Pair pair, Executable posting) throws Throwable {
        posting.execute();
        assertEquals(2, Wait.failure(pair.client.completionQueue()).context());
    }

    private static ByteBuffer descriptor(LocalMemoryRegion region) throws Exception {
        ByteBuffer descriptor = ByteBuffer.allocate(DESCRIPTOR);
        region.descriptor(descriptor);
        return descriptor.flip();
    }
}
