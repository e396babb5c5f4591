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
package io.rpma.librpma;

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_mr_local}. */
final class LibrpmaLocalMemoryRegion extends LibrpmaHandle implements LocalMemoryRegion {
    // Keeps registered regions reachable: a device could otherwise write to memory that has been garbage collected.
    private static final Set<LibrpmaLocalMemoryRegion> REGISTERED = ConcurrentHashMap.newKeySet();

    private final LibrpmaProtectionDomain peer;
    private final MemorySegment memory;
    private final long address;
    private final long size;
    private final int descriptorSize;
    private final Set<MemoryUsage> usages;
    private volatile boolean quiescent;

    private LibrpmaLocalMemoryRegion(long handle, LibrpmaProtectionDomain peer, MemorySegment memory, int usageBits)
            throws RpmaException {
        super("local memory region", handle);
        this.peer = peer;
        this.memory = memory;
        address = getLong(Librpma.MR_GET_PTR, "rpma_mr_get_ptr", handle);
        size = getLong(Librpma.MR_GET_SIZE, "rpma_mr_get_size", handle);
        descriptorSize = (int) getLong(Librpma.MR_GET_DESCRIPTOR_SIZE, "rpma_mr_get_descriptor_size", handle);
        usages = Collections.unmodifiableSet(MemoryUsage.of(usageBits));
    }

    /** Registers memory. */
    static LibrpmaLocalMemoryRegion register(LibrpmaProtectionDomain peer, MemorySegment memory, Set<MemoryUsage> usages)
            throws RpmaException {
        if (memory == null || !memory.isNative() || !memory.scope().isAlive()) {
            throw LibrpmaFailure.invalid("rpma_mr_reg: the memory is " + (memory == null ? "null" : memory.isNative()
                ? "already freed" : "on the Java heap, where it may be moved; only off-heap memory can be registered"));
        }
        int bits = usages == null ? 0 : MemoryUsage.bits(usages);
        long peerPointer = peer.retain();
        long handle = 0;
        try {
            handle = register(peerPointer, memory, bits);
            LibrpmaLocalMemoryRegion region = new LibrpmaLocalMemoryRegion(handle, peer, memory, bits);
            REGISTERED.add(region);
            return region;
        } catch (Throwable e) {
            if (handle != 0) {
                delete(Librpma.MR_DEREG, handle);
            }
            peer.release();
            throw e;
        }
    }

    private static long register(long peer, MemorySegment memory, int bits) throws RpmaException {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.mrReg(capture, peer, memory.address(), memory.byteSize(), bits, pointer);
            if (code != 0) {
                throw registrationFailed(code, LibrpmaFailure.errno(code, capture), memory, bits);
            }
            return pointer.get(JAVA_LONG, 0);
        }
    }

    private static RpmaException registrationFailed(int code, int errno, MemorySegment memory, int bits) {
        if (code == RpmaError.INVALID.code()) {
            return LibrpmaFailure.of("rpma_mr_reg", code, 0, memory.byteSize() + " bytes for the usages "
                + MemoryUsage.of(bits) + "; there must be at least one byte and one usage");
        }
        String detail = memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address()) + " for the usages "
            + MemoryUsage.of(bits);
        if (errno == Posix.ENOMEM) {
            long limit = Posix.softLimit(Posix.RLIMIT_MEMLOCK);
            detail += limit == Posix.UNLIMITED
                ? "; locked memory is not limited in this process, so the device or the kernel has run out of memory or of"
                    + " memory regions"
                : "; registered memory is locked, and this process may lock " + limit + " bytes in total (ulimit -l). Raise it:"
                    + " '* - memlock unlimited' in /etc/security/limits.conf, LimitMEMLOCK=infinity for a systemd unit,"
                    + " --ulimit memlock=-1 for a container";
        }
        if (errno == Posix.EINVAL && (bits & MemoryUsage.FLUSH_PERSISTENT.bit()) != 0) {
            detail += "; librpma 1.3 lets the device execute flushes to persistence if it supports them, and such a device"
                + " rejects memory that is not persistent for FLUSH_PERSISTENT: omit that usage, or register persistent memory";
        }
        return LibrpmaFailure.of("rpma_mr_reg", code, errno, detail);
    }

    /** Returns the pointer of a region, 0 for {@code null}. */
    static long pointer(LocalMemoryRegion region) throws RpmaException {
        if (region instanceof LibrpmaLocalMemoryRegion own) {
            return own.handle();
        }
        if (region == null) {
            return 0;
        }
        throw LibrpmaFailure.invalid("the local memory region does not belong to the provider librpma: " + region);
    }

    @Override
    public Peer peer() {
        return peer;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public Set<MemoryUsage> usages() {
        return usages;
    }

    @Override
    public int descriptorSize() {
        return descriptorSize;
    }

    @Override
    public void descriptor(ByteBuffer target) throws RpmaException {
        LibrpmaBytes.descriptor(Librpma.MR_GET_DESCRIPTOR, "rpma_mr_get_descriptor", handle(), descriptorSize, target);
    }

    @Override
    public void advise(long offset, long length, int advice, int flags) throws RpmaException {
        if (offset < 0) {
            throw LibrpmaFailure.range("rpma_mr_advise", "the offset", offset);
        }
        if (length < 0 || length > LibrpmaFailure.MAX_LENGTH) {
            throw LibrpmaFailure.range("rpma_mr_advise", "the length", length);
        }
        int code = Librpma.mrAdvise(handle(), offset, length, advice, flags);
        if (code != 0) {
            throw LibrpmaFailure.of("rpma_mr_advise", code, 0, "advice " + advice + ", flags " + flags + ", " + length
                + " bytes at offset " + offset + " of " + size);
        }
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer != 0) {
            try {
                delete(Librpma.MR_DEREG, "rpma_mr_dereg", pointer);
                quiescent = true;
                // After a failure the device may still write to the memory, which therefore stays reachable.
                REGISTERED.remove(this);
            } finally {
                peer.release();
            }
        }
    }

    @Override
    public boolean isQuiescent() {
        return quiescent;
    }
}
