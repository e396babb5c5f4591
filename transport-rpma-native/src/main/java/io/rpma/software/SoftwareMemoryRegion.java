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
package io.rpma.software;

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RegionDescriptor;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;

/** The properties of a local memory region. How it is closed is left to the provider. Thread-safe. */
public abstract class SoftwareMemoryRegion implements LocalMemoryRegion {
    private final SoftwareLog log;
    private final MemorySegment memory;
    private final long address;
    private final long size;
    private final int usages;
    private final int key;

    /**
     * Creates a region.
     *
     * @param log the log of the provider
     * @param memory the memory; {@link #check} must have accepted it
     * @param usages the bits of the usages, see {@link MemoryUsage#bits}
     * @param key the number by which peers name the region
     */
    protected SoftwareMemoryRegion(SoftwareLog log, MemorySegment memory, int usages, int key) {
        this.log = log;
        this.memory = memory;
        address = memory.address();
        size = memory.byteSize();
        this.usages = usages;
        this.key = key;
    }

    /**
     * Checks what is to be registered.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if there is no memory or no usage, or if the memory is on the Java heap or
     *     has been freed
     */
    public static void check(SoftwareLog log, MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException {
        if (memory == null || usages == null || usages.isEmpty() || memory.byteSize() == 0
            || memory.address() == 0) {
            throw log.failure(RpmaError.INVALID, "register: memory " + memory + ", usages " + usages
                + ": memory of at least 1 byte and at least one usage must be given");
        }
        if (!memory.isNative() || !memory.scope().isAlive()) {
            throw log.failure(RpmaError.INVALID, "register: " + memory + " is on the Java heap or already freed; only"
                + " off-heap memory that outlives the region can be registered");
        }
    }

    /**
     * Refuses read-only memory that this process would write to: the store would fault, which ends the process.
     *
     * @param isWritten whether a usage requires write access
     * @throws RpmaException {@link RpmaError#PROVIDER} with errno {@code EFAULT}
     */
    public static void checkAccess(SoftwareLog log, MemorySegment memory, boolean isWritten) throws RpmaException {
        if (isWritten && memory.isReadOnly()) {
            throw log.failure(RpmaError.PROVIDER, Posix.EFAULT, "register: the memory is read-only, but a usage requires write"
                + " access (" + memory + ")", null);
        }
    }

    /** Returns whether the region is open. Any thread may call it. */
    protected abstract boolean isOpen();

    /**
     * Checks that the region is open. Any thread may call it.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if it is closed
     */
    protected final void checkOpen() throws RpmaException {
        if (!isOpen()) {
            throw log.failure(RpmaError.INVALID, "the memory region is closed");
        }
    }

    /** Returns the number by which peers name the region. */
    public final int key() {
        return key;
    }

    /** Returns the bits of all usages. */
    protected final int usageBits() {
        return usages;
    }

    /** Returns whether a usage is permitted, given as its bit. */
    public final boolean allows(int usage) {
        return (usages & usage) != 0;
    }

    /** Returns whether a part lies within the region; the values, in bytes, may be anything. */
    public final boolean contains(long offset, long length) {
        return offset >= 0 && length >= 0 && length <= size && offset <= size - length;
    }

    @Override
    public final MemorySegment memory() {
        return memory;
    }

    @Override
    public final long address() {
        return address;
    }

    @Override
    public final long size() {
        return size;
    }

    @Override
    public final Set<MemoryUsage> usages() {
        return MemoryUsage.of(usages);
    }

    @Override
    public final int descriptorSize() {
        return RegionDescriptor.BYTES;
    }

    @Override
    public final void descriptor(ByteBuffer target) throws RpmaException {
        new RegionDescriptors(log).checkTarget(target);
        checkOpen();
        new RegionDescriptor(address, size, key, usages).write(target);
    }

    /**
     * Checks that the region is open and contains the part that advice is about.
     *
     * @param offset in bytes
     * @param length in bytes
     * @throws RpmaException {@link RpmaError#INVALID}
     */
    protected final void checkAdvised(long offset, long length) throws RpmaException {
        checkOpen();
        if (!contains(offset, length)) {
            throw log.failure(RpmaError.INVALID, "advise: " + length + " bytes at offset " + offset
                + " lie outside the region of " + size + " bytes");
        }
    }
}
