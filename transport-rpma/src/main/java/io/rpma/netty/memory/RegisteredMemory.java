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

package io.rpma.netty.memory;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.PlatformDependent;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.LongAdder;

/**
 * The registered memory of the process, and the buffers in it. The public allocator and the transport itself take buffers from
 * here. Thread-safe. Event loops and other Netty threads keep free buffers of their own, which they allocate without a lock and
 * return when they end. All other threads, including virtual ones, share theirs.
 */
public final class RegisteredMemory {
    /** The limit of registered memory in bytes. */
    public static final long MAX_BYTES = NumberProperty.get("io.rpma.netty.maxRegisteredBytes",
        Math.clamp(Runtime.getRuntime().maxMemory(), Slabs.SLAB_SIZE, Slabs.MAX_BYTES), Slabs.SLAB_SIZE, Slabs.MAX_BYTES);

    /**
     * The largest number of bytes that the memory for large data of all connections together may have. It is read here, so that
     * a value that is not allowed fails each bind and each connect, and not the first large data of a peer.
     */
    public static final long MAX_BULK_BYTES =
        NumberProperty.get("io.rpma.netty.maxBulkBytes", MAX_BYTES / 4, 0, Slabs.MAX_BYTES);

    /** The largest registered buffer in bytes. */
    static final int MAX_CAPACITY = Slabs.SLAB_SIZE;

    private static final InliningBarrier ALLOCATE = InliningBarrier.ofStatic(MethodHandles.lookup(), RegisteredMemory.class,
        "allocate", MethodType.methodType(RpmaByteBuf.class, int.class, int.class));
    private static final LongAdder UNREGISTERED = new LongAdder();
    private static final RpmaByteBuf.Pool POOL = new RpmaByteBuf.Pool() {
        @Override
        public ByteBufAllocator allocator() {
            return allocator;
        }

        @Override
        public RpmaByteBuf take(int shift) {
            return RegisteredMemory.take(shift);
        }

        @Override
        public void give(RpmaByteBuf buf) {
            RegisteredMemory.give(buf);
        }
    };
    private static final FastThreadLocal<Magazines> MAGAZINES = new FastThreadLocal<>() {
        @Override
        protected Magazines initialValue() {
            return new Magazines();
        }

        @Override
        protected void onRemoval(Magazines ofThread) {
            ofThread.flush();
        }
    };

    // What the buffers return as their allocator. Each event loop sets the public one before it has a buffer: applications
    // conclude from it whether a buffer is pooled, that is, whether its memory is used again after its release.
    private static volatile ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;

    private RegisteredMemory() {
    }

    /** The memory. Its addresses are reserved when the first slab is added, so that loading the class chooses no provider. */
    private static final class Memory {
        static final Slabs SLABS;
        static final BuddyArena ARENA;
        static final SharedMagazines SHARED;

        static {
            SLABS = new Slabs(MAX_BYTES);
            ARENA = new BuddyArena(SLABS);
            SHARED = new SharedMagazines(ARENA);
        }
    }

    /** Sets what the buffers return as their allocator. Called when the public allocator is created. */
    public static void allocator(ByteBufAllocator of) {
        allocator = of;
    }

    /** Returns what the magazines of all threads exchange. */
    static SharedMagazines shared() {
        return Memory.SHARED;
    }

    /** Returns the slab that contains an address, or {@code null} if the address is not in registered memory. */
    public static Slab slab(long address) {
        return Memory.SLABS.of(address);
    }

    /**
     * Checks that registered memory is available on a fabric, so that a limit of locked memory that is too small is detected
     * when a channel is bound or connected.
     */
    public static void prepare(Fabric fabric) throws RpmaException {
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

    /**
     * Allocates a registered buffer, without leak detection.
     *
     * @return the buffer, or {@code null} if it is too large or the limit of registered memory is reached
     */
    public static RpmaByteBuf registered(int initialCapacity, int maxCapacity) {
        try {
            return (RpmaByteBuf) ALLOCATE.method().invokeExact(initialCapacity, maxCapacity);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return null;
        }
    }

    private static RpmaByteBuf allocate(int initialCapacity, int maxCapacity) {
        RpmaByteBuf buf = initialCapacity <= MAX_CAPACITY ? take(BuddyArena.shift(initialCapacity)) : null;
        if (buf == null) {
            UNREGISTERED.increment();
            return null;
        }
        buf.reuse(initialCapacity, maxCapacity);
        return buf;
    }

    /** Returns the number of bytes of registered memory that the process holds. */
    public static long registeredBytes() {
        return Memory.SLABS.bytes();
    }

    /** Returns the number of bytes of registered memory in use, including the free buffers that are kept ready. */
    public static long usedBytes() {
        return Memory.ARENA.usedBytes();
    }

    /** Returns how many bytes the free buffers have that are kept ready for all threads. */
    public static long cachedBytes() {
        return Memory.SHARED.bytes();
    }

    /**
     * Returns how many direct buffers were not allocated in registered memory, because they were too large or the limit was
     * reached.
     */
    public static long unregisteredBuffers() {
        return UNREGISTERED.sum();
    }

    /**
     * Gives this thread its own magazines, if it is not of a kind that has them anyway; {@link #endMagazines} must be called
     * before the thread ends. A virtual thread never gets any.
     */
    public static void beginMagazines() {
        if (!FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals() && !Thread.currentThread().isVirtual()) {
            MAGAZINES.get();
        }
    }

    /** Returns the buffers in this thread's magazines to the arena. */
    public static void endMagazines() {
        if (!Thread.currentThread().isVirtual()) {
            MAGAZINES.remove();
        }
    }

    /**
     * Returns the magazines of this thread, or {@code null} if it has none. Only threads with a hook at their end have
     * magazines, since the buffers of any other thread would be lost. A virtual thread is not looked up, because the lookup
     * would leave an object behind on it.
     */
    private static Magazines ofThread() {
        Magazines own = Thread.currentThread() instanceof FastThreadLocalThread ? MAGAZINES.getIfExists() : null;
        return own != null ? own : ofOtherThread();
    }

    private static Magazines ofOtherThread() {
        if (FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals()) {
            return MAGAZINES.get();
        }
        return Thread.currentThread().isVirtual() ? null : MAGAZINES.getIfExists();
    }

    /** Takes a free buffer of a size class from the magazines of this thread, the shared magazines, or the arena. */
    public static RpmaByteBuf take(int shift) {
        if (shift > Magazines.MAX_SHIFT) {
            return fresh(shift);
        }
        Magazines own = ofThread();
        RpmaByteBuf buf = own != null ? own.pop(shift) : Memory.SHARED.pop(shift);
        return buf != null ? buf : fresh(shift);
    }

    /** Takes back a buffer whose reference count has reached 0. */
    public static void give(RpmaByteBuf buf) {
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

    private static RpmaByteBuf fresh(int shift) {
        try {
            BuddyArena.Block block = Memory.ARENA.allocate(shift);
            if (block == null) {
                // The shared magazines may hold buffers of other sizes, which flush() returns to the arena.
                Memory.SHARED.flush();
                block = Memory.ARENA.allocate(shift);
            }
            return block != null ? new RpmaByteBuf(block, POOL) : null;
        } catch (RpmaException e) {
            // The system has no more memory of this kind. The caller falls back to unregistered memory, which is counted.
            return null;
        }
    }
}
