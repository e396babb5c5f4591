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

package io.rpma.soft;

import io.rpma.CompletionStatus;
import io.rpma.MemoryUsage;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RegionCache;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.RemoteRegion;
import io.rpma.soft.shared.StreamingCopy;

/**
 * Executes operations in the registered memory of a connected peer: reads, writes, atomic writes and flushes, and the copies of
 * sends. Each access is checked against the peer's own table of regions. Memory that this process has mapped is accessed
 * directly, other memory by system call.
 *
 * <p>Used by the thread that executes work requests; see {@link QueuePair}. The queue pair is busy meanwhile, so that the memory
 * is not taken away.
 */
final class RemoteAccess {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int REM_INV_REQ_ERR = CompletionStatus.REM_INV_REQ_ERR.code();
    private static final int REM_ACCESS_ERR = CompletionStatus.REM_ACCESS_ERR.code();
    private static final int REM_OP_ERR = CompletionStatus.REM_OP_ERR.code();
    private static final int RETRY_EXC_ERR = CompletionStatus.RETRY_EXC_ERR.code();

    /**
     * How long an operation waits for memory that the peer has not sent. A correct peer sends it as soon as it takes the
     * connection's events. A test sets a shorter time.
     */
    static volatile long unsentMillis = 10_000;

    private final RemoteProcess process;
    private final RegionCache regions;
    private final int domain;
    private final ControlSocket control;
    // Why the memory of the region that was looked up last is missing; null if it is not, or if there is no such region.
    private RemoteRegion missing;
    // Whether the peer has not sent that memory, and since when.
    private boolean unsent;
    private long unsentSince;

    /**
     * Creates the access to the memory of a peer.
     *
     * @param control detects the end of the peer
     */
    RemoteAccess(RemoteEnd end, ControlSocket control) {
        process = end.process();
        regions = process.regions();
        domain = end.domain();
        this.control = control;
    }

    /**
     * Returns a region in which an operation is permitted, or {@code null}.
     *
     * @param usage the bit of the {@link MemoryUsage}
     */
    RemoteRegion region(int key, int usage) {
        RemoteRegion region = region(key);
        if (region != null && !region.allows(usage, domain)) {
            missing = null;
            return null;
        }
        return region;
    }

    /** Returns a region of the peer, {@code null} if there is none with this key or {@link #isMissing its memory is missing}. */
    RemoteRegion region(int key) {
        RemoteRegion region = regions.known(key);
        return region != null ? region : find(key);
    }

    private RemoteRegion find(int key) {
        RemoteRegion found = process.find(key);
        missing = found == RemoteRegion.NO_ROOM || found == RemoteRegion.NOT_SENT ? found : null;
        return missing == null ? found : null;
    }

    /**
     * Called when there was no region. Returns whether there is one in memory that this process has not mapped yet: the operation
     * has to wait.
     */
    boolean isMissing() {
        return missing != null;
    }

    /**
     * Called when an operation waits for a region whose memory is missing, after each attempt. If the peer has not sent the
     * memory, this method requests it. The queue pair is not busy.
     *
     * @return whether the operation may wait longer
     */
    boolean awaitMissing() {
        if (missing != RemoteRegion.NOT_SENT) {
            unsent = false;
            return true;
        }
        long now = System.nanoTime();
        if (!unsent) {
            unsent = true;
            unsentSince = now;
        }
        if (now - unsentSince >= unsentMillis * 1_000_000) {
            SoftLog.violation(User.process(process.pid()) + " has a memory region in a range that it has not sent within "
                + unsentMillis + " ms");
            return false;
        }
        control.requestUnsent();
        return true;
    }

    /** Called when no operation waits any more. */
    void endWait() {
        unsent = false;
    }

    /** Returns whether a region is registered for a usage, by the peer's protection domain. */
    boolean allows(RemoteRegion region, int usage) {
        return region.allows(usage, domain);
    }

    /** Returns the usage that an operation needs a region to be registered for, as a bit. */
    static int usage(int operation) {
        return switch (operation) {
            case Operation.READ -> MemoryUsage.READ_SRC.bit();
            case Operation.FLUSH_VISIBILITY -> MemoryUsage.FLUSH_VISIBILITY.bit();
            case Operation.FLUSH_PERSISTENT -> MemoryUsage.FLUSH_PERSISTENT.bit();
            default -> MemoryUsage.WRITE_DST.bit();
        };
    }

    /** Writes 8 bytes as one word ({@code rpma_atomic_write(3)}). Returns the status. */
    int atomicWrite(RemoteRegion region, long offset, long value) {
        if (region.local() == 0) {
            return atomicWriteToForeign(region, offset, value);
        }
        long address = region.local() + offset;
        if ((address & 7) != 0) {
            return REM_INV_REQ_ERR;
        }
        Memory.putLongRelease(address, value);
        return SUCCESS;
    }

    /**
     * Writes to memory that this process cannot map: the kernel copies the aligned word. A process that is killed does not
     * interrupt the copy. That a reader never observes half of the word relies on the kernel copying an aligned word by one
     * store, as it does on x86-64 and aarch64. The fence orders all earlier writes of this process before the copy (row M23 of
     * docs/memory-order.md).
     */
    private int atomicWriteToForeign(RemoteRegion region, long offset, long value) {
        if ((region.address() + offset & 7) != 0) {
            return REM_INV_REQ_ERR;
        }
        Memory.fullFence();
        long word = Scratch.get().address();
        Memory.putLong(word, value);
        return copyTo(region, offset, word, Long.BYTES);
    }

    /** Makes a part of a region persistent. Returns the status. */
    int persist(RemoteRegion region, long offset, long length) {
        // Orders the earlier writes before the flush and its completion (row M22 of docs/memory-order.md).
        Memory.fullFence();
        if (length > 0 && region.local() != 0 && process.isSelf()) {
            // The region may be a file that this process has mapped. Other memory has no storage to write back to.
            long first = (region.local() + offset) / Posix.PAGE_SIZE * Posix.PAGE_SIZE;
            int result = Posix.msync(first, region.local() + offset + length - first);
            return result == 0 ? SUCCESS : REM_OP_ERR;
        }
        if (length > 0 && region.local() == 0) {
            // Only the process that owns the memory knows the file or device behind it, and can synchronize it.
            SoftLog.violation("cannot flush memory of " + User.process(process.pid()) + " to persistence: only that process can"
                + " make it persistent; request that by a message, or use the provider tcp");
            return REM_OP_ERR;
        }
        return SUCCESS;
    }

    /** Copies bytes of this process to a region. Returns the status. */
    int copyTo(RemoteRegion region, long offset, long source, long length) {
        if (region.local() != 0) {
            long first = 0;
            if (FaultPoints.ENABLED) {
                first = length / 2;
                StreamingCopy.copy(source, region.local() + offset, first);
                FaultPoints.at("copying");
            }
            StreamingCopy.copy(source + first, region.local() + offset + first, length - first);
            return SUCCESS;
        }
        return control.isPeerGone() ? RETRY_EXC_ERR
            : status(process.copyTo(region.address() + offset, source, length));
    }

    /** Copies bytes of a region to memory of this process. Returns the status. */
    int copyFrom(RemoteRegion region, long offset, long target, long length) {
        if (region.local() != 0) {
            Memory.copy(region.local() + offset, target, length);
            return SUCCESS;
        }
        return control.isPeerGone() ? RETRY_EXC_ERR
            : status(process.copyFrom(region.address() + offset, target, length));
    }

    /** Returns the status for the result of a copy by system call. */
    private int status(int result) {
        if (result == 0) {
            return SUCCESS;
        }
        if (result == -Posix.EFAULT) {
            return REM_ACCESS_ERR;
        }
        if (result == -Libc.ESRCH) {
            // The process died after isPeerGone() was called.
            return RETRY_EXC_ERR;
        }
        SoftLog.violation("memory of " + User.process(process.pid()) + " cannot be accessed by system call: "
            + Posix.strerror(-result) + "; memory from RpmaProvider.reserve needs no system call");
        return REM_OP_ERR;
    }
}
