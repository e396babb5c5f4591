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

import io.netty.channel.Channel;
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.rpma.AddressRange;
import io.rpma.Device;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RegionDescriptor;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.memory.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * Memory of this process that one-sided operations access: the operations of this process's own channels, or those of peers
 * that have its descriptor ({@code rpma_mr_reg(3)}). It is registered with each device on first use there, which pins its pages
 * and may take milliseconds; call {@link #descriptor} to register it at a moment of your choice.
 *
 * <p>Reference-counted. An operation retains the region from its creation until it has completed, so that the memory cannot be
 * freed during the operation. The last {@link #release()} deregisters the memory. Operations that peers start afterwards with
 * the descriptor fail with {@link io.rpma.CompletionStatus#REM_ACCESS_ERR} and end their connections. {@code release()} does
 * not wait for operations that a peer has already started; {@link #freeFuture()} succeeds when the application may use the
 * memory again. Thread-safe.
 */
public final class RpmaRegion extends AbstractReferenceCounted {
    /** The size of a descriptor in bytes ({@code rpma_mr_get_descriptor_size(3)}). */
    public static final int DESCRIPTOR_BYTES = RegionDescriptor.BYTES;

    private static final LocalMemoryRegion[] NONE = {};

    private final MemorySegment memory;
    private final Set<MemoryUsage> usages;
    private final AutoCloseable owner;
    // Not notified by the thread that frees the memory, which may be an event loop that is handling completions.
    private final Promise<Void> freed = GlobalEventExecutor.INSTANCE.newPromise();
    // Indexed by fabric. The array is replaced, never modified, so that posting reads it without a lock.
    private volatile LocalMemoryRegion[] registered = NONE;

    private RpmaRegion(MemorySegment memory, Set<MemoryUsage> usages, AutoCloseable owner) {
        this.memory = memory;
        this.usages = usages;
        this.owner = owner;
        freed.setUncancellable();
    }

    /**
     * Creates a region of memory that the caller keeps alive until the region has been freed ({@link #freeFuture()}).
     *
     * @param memory off-heap memory; it must begin at an address that is a multiple of 8 if peers write to it atomically. On the
     *     software provider, peers in other processes access memory of {@link #allocate} faster
     * @param usages what the region is for, at least one
     * @throws IllegalArgumentException if the memory is on the heap or empty, or there is no usage
     */
    public static RpmaRegion of(MemorySegment memory, MemoryUsage... usages) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered: " + memory);
        }
        if (memory.byteSize() == 0) {
            throw new IllegalArgumentException("a region must have at least 1 byte");
        }
        return new RpmaRegion(memory, checked(usages), null);
    }

    /**
     * Creates a region with zeroed memory of its own, which is freed together with the region.
     *
     * @param bytes its size, at least 1
     * @param usages what the region is for, at least one
     * @throws RpmaException if there is no memory
     */
    public static RpmaRegion allocate(long bytes, MemoryUsage... usages) throws RpmaException {
        if (bytes < 1) {
            throw new IllegalArgumentException("a region of " + bytes + " bytes; it must have at least 1 byte");
        }
        Set<MemoryUsage> set = checked(usages);
        AddressRange range = Rpma.providers().getFirst().reserve(bytes);
        try {
            return new RpmaRegion(range.commit(0, range.size()).asSlice(0, bytes), set, range);
        } catch (RpmaException | RuntimeException e) {
            range.close();
            throw e;
        }
    }

    /**
     * Creates a region of a part of a file, mapped for reading and writing ({@link FileChannel#map}).
     *
     * <ul>
     * <li>A file of a DAX filesystem on persistent memory may be registered for {@link MemoryUsage#FLUSH_PERSISTENT}: a store
     *     writes to the medium directly. Whether a peer's flush reaches the medium depends on the platform, which
     *     {@link RpmaPeerConfig} describes to the peer. For any other file this usage is refused.
     * <li>Any other file is mapped from the page cache: what a peer writes survives the death of this process, but is lost if
     *     the machine loses power, unless this process has called {@link MemorySegment#force()}.
     * <li>RDMA devices pin the pages permanently. Linux allows that for tmpfs and hugetlbfs and, since 6.5, for no other
     *     filesystem with a page cache; on such a filesystem the registration fails. The software provider accepts any file.
     * </ul>
     *
     * @param file open for reading and writing; it may be closed afterwards
     * @param position of the first byte; the file is extended if it is too short
     * @param bytes the size of the region, at least 1
     * @param usages what the region is for, at least one
     * @throws IOException if the file cannot be mapped
     */
    public static RpmaRegion map(FileChannel file, long position, long bytes, MemoryUsage... usages) throws IOException {
        Set<MemoryUsage> set = checked(usages);
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = PersistentMemory.map(file, position, bytes, set.contains(MemoryUsage.FLUSH_PERSISTENT), arena);
            return new RpmaRegion(memory, set, arena);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static Set<MemoryUsage> checked(MemoryUsage... usages) {
        if (usages.length == 0) {
            throw new IllegalArgumentException("a region must have at least one usage");
        }
        return EnumSet.copyOf(Arrays.asList(usages));
    }

    /**
     * Returns the memory, which must not be used after the region has been freed.
     *
     * @throws IllegalReferenceCountException if the region has been freed
     */
    public MemorySegment memory() {
        if (refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        return memory;
    }

    /**
     * Returns the future that succeeds when the region has been freed and no peer can access its memory any more. Memory that
     * was passed to {@link #of} may then be used for something else, and memory that the region allocated itself has been
     * returned. Usually the future is done when the last {@link #release()} returns. On the software provider, a process that
     * is executing an operation in the memory is allowed to finish it, which takes as long as that process is stopped. The
     * future fails if the memory could not be deregistered; the memory must then not be used any more. It cannot be cancelled.
     * Its listeners are called by Netty's {@link GlobalEventExecutor}.
     */
    public Future<Void> freeFuture() {
        return freed;
    }

    /** Returns the size in bytes. */
    public long size() {
        return memory.byteSize();
    }

    /** Returns the usages that the region was registered for. */
    public Set<MemoryUsage> usages() {
        return EnumSet.copyOf(usages);
    }

    /**
     * Returns the 21 bytes with which the peer of a channel opens the region ({@code rpma_mr_get_descriptor(3)},
     * {@link RpmaRemoteRegion#open}). Anyone who has these bytes and a connection to the same device of this process can do
     * what the usages allow.
     *
     * @param channel a connected channel, or a bound server channel, of this transport
     * @return the descriptor
     * @throws RpmaException if the memory cannot be registered; the message says why
     * @throws IllegalArgumentException if the channel is of another transport, or has never been connected or bound
     * @throws IllegalReferenceCountException if the region has been freed
     */
    public ByteBuffer descriptor(Channel channel) throws RpmaException {
        return descriptor(ChannelFabric.of(channel));
    }

    /**
     * Returns the 21 bytes with which peers that are connected over a device open the region. This variant is for use before
     * there is a channel: a client that sends a descriptor in its own connection request obtains its device from
     * {@link RpmaPrivateDataFactory}.
     *
     * @param device a device of one of {@link Rpma#providers()}
     * @return the descriptor
     * @throws RpmaException if the memory cannot be registered; the message says why
     * @throws IllegalReferenceCountException if the region has been freed
     */
    public ByteBuffer descriptor(Device device) throws RpmaException {
        return descriptor(Fabric.of(device));
    }

    private ByteBuffer descriptor(Fabric fabric) throws RpmaException {
        LocalMemoryRegion region = on(fabric);
        ByteBuffer descriptor = ByteBuffer.allocate(region.descriptorSize());
        region.descriptor(descriptor);
        return descriptor.flip();
    }

    /** Returns the region on a fabric; registers it there on first use. */
    LocalMemoryRegion on(Fabric fabric) throws RpmaException {
        LocalMemoryRegion[] current = registered;
        int id = fabric.id();
        LocalMemoryRegion region = id < current.length ? current[id] : null;
        return region != null ? region : register(fabric);
    }

    private synchronized LocalMemoryRegion register(Fabric fabric) throws RpmaException {
        if (refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        LocalMemoryRegion[] current = registered;
        int id = fabric.id();
        if (id < current.length && current[id] != null) {
            return current[id];
        }
        LocalMemoryRegion region = fabric.peer().register(memory, usages);
        LocalMemoryRegion[] grown = Arrays.copyOf(current, Math.max(current.length, id + 1));
        grown[id] = region;
        registered = grown;
        return region;
    }

    @Override
    protected void deallocate() {
        LocalMemoryRegion[] closing;
        synchronized (this) {
            closing = registered;
            registered = NONE;
        }
        Exception failure = null;
        for (LocalMemoryRegion region : closing) {
            failure = close(region, failure);
        }
        if (failure != null) {
            // A device may still write to the memory, so it is not freed.
            UncheckedIOException cause = failed(failure);
            freed.setFailure(cause);
            throw cause;
        }
        LimboMemory.release(() -> areQuiescent(closing), size(), this::free);
    }

    private static boolean areQuiescent(LocalMemoryRegion[] regions) {
        for (LocalMemoryRegion region : regions) {
            if (region != null && !region.isQuiescent()) {
                return false;
            }
        }
        return true;
    }

    private void free() {
        Exception failure = close(owner, null);
        if (failure != null) {
            UncheckedIOException cause = failed(failure);
            freed.setFailure(cause);
            throw cause;
        }
        freed.setSuccess(null);
    }

    private UncheckedIOException failed(Exception cause) {
        return new UncheckedIOException("a region of " + size() + " bytes could not be freed",
            cause instanceof IOException e ? e : new IOException(cause));
    }

    private static Exception close(AutoCloseable closing, Exception before) {
        if (closing != null) {
            try {
                closing.close();
            } catch (Exception e) {
                if (before != null) {
                    e.addSuppressed(before);
                }
                return e;
            }
        }
        return before;
    }

    @Override
    public RpmaRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public RpmaRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpmaRegion touch() {
        super.touch();
        return this;
    }

    @Override
    public RpmaRegion touch(Object hint) {
        return this;
    }

    @Override
    public String toString() {
        return "region of " + size() + " bytes for " + usages;
    }
}
