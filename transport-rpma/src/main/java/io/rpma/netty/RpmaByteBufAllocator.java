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

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.internal.SystemPropertyUtil;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Allocates direct buffers in memory that is registered with the RDMA device, so that a channel can hand them to it as they
 * lie. One per process: {@link #DEFAULT}. Thread-safe; every thread keeps magazines of buffers of its own.
 *
 * <p>Buffers up to 4 MiB come from registered slabs of 4 MiB, rounded up to a power of two. A larger buffer, or one that would
 * exceed {@code -Dio.rpma.netty.maxRegisteredBytes} (default: the maximum heap size), comes from Netty's unpooled allocator: it
 * works everywhere and is copied once when it is sent. Heap buffers come from Netty's pooled allocator.
 */
public final class RpmaByteBufAllocator extends AbstractByteBufAllocator {
    /** The allocator of this process. */
    public static final RpmaByteBufAllocator DEFAULT = new RpmaByteBufAllocator();

    /** The largest registered buffer in bytes. */
    public static final int MAX_REGISTERED_CAPACITY = Slabs.SLAB_SIZE;

    /** The limit of registered memory in bytes. */
    static final long MAX_REGISTERED_BYTES =
        SystemPropertyUtil.getLong("io.rpma.netty.maxRegisteredBytes", Runtime.getRuntime().maxMemory());

    private static final int MAX_MAGAZINE_SHIFT = 16;

    private final LongAdder unregistered = new LongAdder();
    private final FastThreadLocal<Magazine[]> magazines = new FastThreadLocal<>() {
        @Override
        protected Magazine[] initialValue() {
            return new Magazine[MAX_MAGAZINE_SHIFT - BuddyArena.MIN_SHIFT + 1];
        }

        @Override
        protected void onRemoval(Magazine[] ofThread) {
            for (Magazine magazine : ofThread) {
                if (magazine != null) {
                    magazine.flush(0);
                }
            }
        }
    };

    private RpmaByteBufAllocator() {
        super(true);
    }

    /** The memory, reserved when the first buffer is asked for: loading the class chooses no provider. */
    private static final class Memory {
        static final Slabs SLABS;
        static final BuddyArena ARENA;

        static {
            try {
                SLABS = new Slabs(MAX_REGISTERED_BYTES);
            } catch (RpmaException e) {
                throw new IllegalStateException("no addresses for " + MAX_REGISTERED_BYTES + " bytes of registered memory: "
                    + e.getMessage() + " (-Dio.rpma.netty.maxRegisteredBytes sets the size)", e);
            }
            ARENA = new BuddyArena(SLABS);
        }
    }

    /** The slab that an address lies in, or {@code null} if it is not registered memory. */
    static Slab slab(long address) {
        return Memory.SLABS.of(address);
    }

    /**
     * Makes sure that registered memory can be had on a fabric at all, so that a limit of locked memory that is too small shows
     * when a channel is bound or connected.
     */
    void prepare(Fabric fabric) throws RpmaException {
        RpmaByteBuf buf = take(BuddyArena.MIN_SHIFT);
        if (buf != null) {
            try {
                LocalMemoryRegion region = buf.slab().region(fabric);
                assert region != null;
            } finally {
                give(buf);
            }
        }
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        RpmaByteBuf buf = registered(initialCapacity, maxCapacity);
        return buf != null ? toLeakAwareBuffer(buf)
            : UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    /**
     * Allocates a registered buffer, without leak detection.
     *
     * @return the buffer, or {@code null} if it is too large or the limit of registered memory is reached
     */
    RpmaByteBuf registered(int initialCapacity, int maxCapacity) {
        RpmaByteBuf buf = initialCapacity <= MAX_REGISTERED_CAPACITY ? take(BuddyArena.shift(initialCapacity)) : null;
        if (buf == null) {
            unregistered.increment();
            return null;
        }
        buf.reuse(initialCapacity, maxCapacity);
        return buf;
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /** Bytes of registered memory that the process holds. */
    public long registeredBytes() {
        return Memory.SLABS.bytes();
    }

    /** Bytes of registered memory in use, including what the threads' magazines keep ready. */
    public long usedBytes() {
        return Memory.ARENA.usedBytes();
    }

    /** How many direct buffers could not be registered memory, because they were too large or the limit was reached. */
    public long unregisteredBuffers() {
        return unregistered.sum();
    }

    /** A free buffer of a size class, from the magazine of this thread or the arena. */
    RpmaByteBuf take(int shift) {
        if (shift > MAX_MAGAZINE_SHIFT) {
            return fresh(shift);
        }
        Magazine[] ofThread = magazines.get();
        Magazine magazine = ofThread[shift - BuddyArena.MIN_SHIFT];
        if (magazine == null) {
            magazine = new Magazine(shift);
            ofThread[shift - BuddyArena.MIN_SHIFT] = magazine;
        }
        RpmaByteBuf buf = magazine.pop();
        return buf != null ? buf : fresh(shift);
    }

    /** Takes a buffer back that nobody refers to any more. */
    void give(RpmaByteBuf buf) {
        int shift = buf.block().shift;
        if (shift > MAX_MAGAZINE_SHIFT) {
            Memory.ARENA.free(buf.block());
            return;
        }
        Magazine[] ofThread = magazines.get();
        Magazine magazine = ofThread[shift - BuddyArena.MIN_SHIFT];
        if (magazine == null) {
            magazine = new Magazine(shift);
            ofThread[shift - BuddyArena.MIN_SHIFT] = magazine;
        }
        magazine.push(buf);
    }

    private RpmaByteBuf fresh(int shift) {
        try {
            BuddyArena.Block block = Memory.ARENA.allocate(shift);
            return block != null ? new RpmaByteBuf(this, block) : null;
        } catch (RpmaException e) {
            // The system has no more memory of this kind: the caller falls back on unregistered memory, which is counted.
            return null;
        }
    }

    /** The free buffers of one thread and one size class. */
    private static final class Magazine {
        private static final int MAX_BYTES = 1 << 20;

        private final RpmaByteBuf[] free;
        private int size;

        Magazine(int shift) {
            free = new RpmaByteBuf[Math.min(256, MAX_BYTES >>> shift)];
        }

        RpmaByteBuf pop() {
            if (size == 0) {
                return null;
            }
            RpmaByteBuf buf = free[--size];
            free[size] = null;
            return buf;
        }

        void push(RpmaByteBuf buf) {
            if (size == free.length) {
                flush(size >>> 1);
            }
            free[size++] = buf;
        }

        /** Gives buffers back to the arena until so many are left. */
        void flush(int remaining) {
            while (size > remaining) {
                RpmaByteBuf buf = free[--size];
                free[size] = null;
                Memory.ARENA.free(buf.block());
            }
        }
    }
}
