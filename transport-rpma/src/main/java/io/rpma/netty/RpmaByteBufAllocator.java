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
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.memory.Slabs;

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

    private RpmaByteBufAllocator() {
        super(true);
        RegisteredMemory.allocator(this);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        RpmaByteBuf buf = RegisteredMemory.registered(initialCapacity, maxCapacity);
        return buf != null ? toLeakAwareBuffer(buf)
            : UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /** Returns the number of bytes of registered memory that the process holds. */
    public long registeredBytes() {
        return RegisteredMemory.registeredBytes();
    }

    /** Returns the number of bytes of registered memory in use, including the free buffers that are kept ready. */
    public long usedBytes() {
        return RegisteredMemory.usedBytes();
    }

    /**
     * Returns the part of {@link #usedBytes()} that belongs to free buffers which are kept ready for all threads, at most 1 MiB
     * of each size. Each thread also keeps free buffers of its own, which are not included; they are released by {@link
     * io.netty.util.concurrent.FastThreadLocal#removeAll()} on that thread.
     */
    public long cachedBytes() {
        return RegisteredMemory.cachedBytes();
    }

    /**
     * Returns how many direct buffers were not allocated in registered memory, because they were too large or the limit was
     * reached.
     */
    public long unregisteredBuffers() {
        return RegisteredMemory.unregisteredBuffers();
    }
}
