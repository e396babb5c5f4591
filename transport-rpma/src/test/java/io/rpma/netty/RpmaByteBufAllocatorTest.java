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

package io.rpma.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.Slab;
import io.rpma.netty.memory.Slabs;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the allocator of registered memory: blocks never overlap, and the slab of each view of a buffer is found. */
@Timeout(60)
class RpmaByteBufAllocatorTest {
    private static final RpmaByteBufAllocator ALLOCATOR = RpmaByteBufAllocator.DEFAULT;

    @Test
    void everyViewLeadsToItsSlab() {
        ByteBuf buf = ALLOCATOR.directBuffer(10_000).writeZero(10_000);
        Slab slab = RegisteredMemory.slab(buf.memoryAddress());
        assertNotNull(slab);
        for (ByteBuf view : List.of(buf.slice(17, 300), buf.duplicate(), buf.asReadOnly(), buf.slice().asReadOnly())) {
            assertSame(slab, RegisteredMemory.slab(view.memoryAddress()), view.toString());
        }
        CompositeByteBuf composite = Unpooled.compositeBuffer().addComponent(true, buf.retainedSlice(5, 50));
        assertSame(slab, RegisteredMemory.slab(composite.component(0).memoryAddress()));
        composite.release();
        assertTrue(buf.release());
    }

    @Test
    void foreignBuffersHaveNoSlab() {
        ByteBuf pooled = PooledByteBufAllocator.DEFAULT.directBuffer(1000);
        assertNull(RegisteredMemory.slab(pooled.memoryAddress()));
        pooled.release();
        assertNull(RegisteredMemory.slab(0));
        assertNull(RegisteredMemory.slab(-1));
    }

    @Test
    void tooLargeABufferIsUnregisteredAndCounted() {
        long before = ALLOCATOR.unregisteredBuffers();
        ByteBuf buf = ALLOCATOR.directBuffer(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY + 1);
        assertNull(RegisteredMemory.slab(buf.memoryAddress()));
        assertEquals(before + 1, ALLOCATOR.unregisteredBuffers());
        buf.release();
    }

    @Test
    void aBufferGrowsWithItsContentEvenBeyondASlab() {
        ByteBuf buf = ALLOCATOR.directBuffer(16).writeLong(0x0102030405060708L);
        buf.capacity(1 << 20);
        assertEquals(0x0102030405060708L, buf.getLong(0));
        assertNotNull(RegisteredMemory.slab(buf.memoryAddress()));
        buf.capacity(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY + 1);
        buf.setByte(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY, 9);
        assertNull(RegisteredMemory.slab(buf.memoryAddress()));
        buf.capacity(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY * 2);
        assertEquals(0x0102030405060708L, buf.getLong(0));
        assertEquals(9, buf.getByte(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY));
        assertEquals(9, buf.nioBuffer(RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY, 1).get());
        buf.release();
    }

    @Test
    void blocksNeverOverlapAndAreAllGivenBack() {
        long used = ALLOCATOR.usedBytes();
        Random random = new Random(5);
        List<ByteBuf> live = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (live.size() > 200 || !live.isEmpty() && random.nextBoolean()) {
                ByteBuf buf = live.remove(random.nextInt(live.size()));
                long mark = buf.getLong(0);
                assertEquals(mark, buf.getLong(buf.capacity() - 8), "a block overlaps with another one");
                buf.setLong(0, 0).release();
            } else {
                int capacity = 16 + random.nextInt(1 << random.nextInt(18));
                long mark = random.nextLong();
                live.add(ALLOCATOR.directBuffer(capacity, capacity).setLong(capacity - 8, mark).setLong(0, mark));
            }
        }
        live.forEach(ByteBuf::release);
        // Memory that has not been returned to the arena is in the magazine of this thread, which is bounded.
        assertTrue(ALLOCATOR.usedBytes() - used <= 9L << 20, ALLOCATOR.usedBytes() + " after " + used);
    }

    @Test
    void buffersReleasedByAnotherThreadDoNotPileUp() throws Exception {
        BlockingQueue<ByteBuf> queue = new LinkedBlockingQueue<>(100);
        AtomicInteger owned = new AtomicInteger();
        Thread releaser = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < 100_000; i++) {
                    if (!queue.take().release()) {
                        owned.incrementAndGet();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        long before = ALLOCATOR.registeredBytes();
        for (int i = 0; i < 100_000; i++) {
            queue.put(ALLOCATOR.directBuffer(4096));
        }
        releaser.join();
        assertEquals(0, owned.get(), "so many buffers have another owner");
        assertTrue(ALLOCATOR.registeredBytes() - before <= 4L * Slabs.SLAB_SIZE,
            () -> before + " bytes before, " + ALLOCATOR.registeredBytes() + " after");
    }

    /** A buffer whose memory is not registered moves to registered memory when it grows and there is some again. */
    @Test
    void aBufferComesBackToRegisteredMemory() {
        ByteBuf buf = RegisteredMemory.registered(200, 1 << 20).writeLong(42);
        List<ByteBuf> all = new ArrayList<>();
        for (int bytes = RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY; bytes > 256; bytes >>>= 1) {
            for (ByteBuf next = RegisteredMemory.registered(bytes, bytes); next != null;
                    next = RegisteredMemory.registered(bytes, bytes)) {
                all.add(next);
            }
        }
        buf.capacity(1000);
        assertNull(RegisteredMemory.slab(buf.memoryAddress()));
        all.forEach(ByteBuf::release);
        buf.capacity(2000).setLong(1992, 43);
        assertNotNull(RegisteredMemory.slab(buf.memoryAddress()));
        assertEquals(2048 - 8, buf.maxFastWritableBytes());
        assertEquals(43, buf.internalNioBuffer(1992, 8).getLong());
        assertEquals(42, buf.readLong());
        buf.release();
    }
}
