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
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.SystemPropertyUtil;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Allocates direct buffers in memory that is registered with the RDMA device, so that a channel can send them without copying.
 * There is one per process: {@link #DEFAULT}. Thread-safe. Event loops and other Netty threads keep free buffers of their own,
 * which they allocate without a lock and return when they end. All other threads, including virtual ones, share theirs.
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

    private final LongAdder unregistered = new LongAdder();
    private final FastThreadLocal<Magazines> magazines = new FastThreadLocal<>() {
        @Override
        protected Magazines initialValue() {
            return new Magazines();
        }

        @Override
        protected void onRemoval(Magazines ofThread) {
            ofThread.flush();
        }
    };

    private RpmaByteBufAllocator() {
        super(true);
    }

    /** The memory. It is reserved when the first buffer is allocated, so that loading the outer class chooses no provider. */
    private static final class Memory {
        static final Slabs SLABS;
        static final BuddyArena ARENA;
        static final SharedMagazines SHARED;

        static {
            try {
                SLABS = new Slabs(MAX_REGISTERED_BYTES);
            } catch (RpmaException e) {
                throw new IllegalStateException("no addresses for " + MAX_REGISTERED_BYTES + " bytes of registered memory: "
                    + e.getMessage() + " (-Dio.rpma.netty.maxRegisteredBytes sets the size)", e);
            }
            ARENA = new BuddyArena(SLABS);
            SHARED = new SharedMagazines(ARENA);
        }
    }

    /**
     * Returns what the magazines of all threads exchange. The first call reserves the memory, so call it only if a buffer
     * exists or is needed.
     */
    static SharedMagazines shared() {
        return Memory.SHARED;
    }

    /** Returns the slab that contains an address, or {@code null} if the address is not in registered memory. */
    static Slab slab(long address) {
        return Memory.SLABS.of(address);
    }

    /**
     * Checks that registered memory is available on a fabric, so that a limit of locked memory that is too small is detected
     * when a channel is bound or connected.
     */
    void prepare(Fabric fabric) throws RpmaException {
        RpmaByteBuf buf = fresh(BuddyArena.MIN_SHIFT);
        if (buf != null) {
            try {
                LocalMemoryRegion region = buf.slab().region(fabric);
                assert region != null;
            } finally {
                Memory.ARENA.free(buf.block());
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

    /** Returns the number of bytes of registered memory that the process holds. */
    public long registeredBytes() {
        return Memory.SLABS.bytes();
    }

    /** Returns the number of bytes of registered memory in use, including the free buffers that are kept ready. */
    public long usedBytes() {
        return Memory.ARENA.usedBytes();
    }

    /**
     * Returns how many direct buffers were not allocated in registered memory, because they were too large or the limit was
     * reached.
     */
    public long unregisteredBuffers() {
        return unregistered.sum();
    }

    /**
     * Gives this thread its own magazines, if it is not of a kind that has them anyway; {@link #endMagazines} must be called
     * before the thread ends. A virtual thread never gets any.
     */
    void beginMagazines() {
        if (!FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals() && !Thread.currentThread().isVirtual()) {
            magazines.get();
        }
    }

    /** Returns the buffers in this thread's magazines to the arena. */
    void endMagazines() {
        if (!Thread.currentThread().isVirtual()) {
            magazines.remove();
        }
    }

    /**
     * Returns the magazines of this thread, or {@code null} if it has none. Only threads with a hook at their end have
     * magazines, since the buffers of any other thread would be lost. A virtual thread is not looked up, because the lookup
     * would leave an object behind on it.
     */
    private Magazines ofThread() {
        Magazines own = Thread.currentThread() instanceof FastThreadLocalThread ? magazines.getIfExists() : null;
        return own != null ? own : ofOtherThread();
    }

    private Magazines ofOtherThread() {
        if (FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals()) {
            return magazines.get();
        }
        return Thread.currentThread().isVirtual() ? null : magazines.getIfExists();
    }

    /** Takes a free buffer of a size class from the magazines of this thread, the shared magazines, or the arena. */
    RpmaByteBuf take(int shift) {
        if (shift > Magazines.MAX_SHIFT) {
            return fresh(shift);
        }
        Magazines own = ofThread();
        RpmaByteBuf buf = own != null ? own.pop(shift) : Memory.SHARED.pop(shift);
        return buf != null ? buf : fresh(shift);
    }

    /** Takes back a buffer whose reference count has reached 0. */
    void give(RpmaByteBuf buf) {
        int shift = buf.block().shift;
        if (shift > Magazines.MAX_SHIFT) {
            Memory.ARENA.free(buf.block());
            return;
        }
        Magazines own = ofThread();
        if (own != null) {
            own.push(buf, shift);
        } else {
            Memory.SHARED.push(buf, shift);
        }
    }

    private RpmaByteBuf fresh(int shift) {
        try {
            BuddyArena.Block block = Memory.ARENA.allocate(shift);
            if (block == null) {
                // The shared magazines may hold buffers of other sizes, which flush() returns to the arena.
                Memory.SHARED.flush();
                block = Memory.ARENA.allocate(shift);
            }
            return block != null ? new RpmaByteBuf(this, block) : null;
        } catch (RpmaException e) {
            // The system has no more memory of this kind. The caller falls back to unregistered memory, which is counted.
            return null;
        }
    }
}
