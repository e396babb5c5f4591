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

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.shared.Segment;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.software.SoftwareMemoryRegion;
import java.lang.foreign.MemorySegment;

/** Registered memory of this process. */
final class SoftLocalMemoryRegion extends SoftwareMemoryRegion {
    private static final int ADVICE_PREFETCH_WRITE = 1;
    private static final int ADVICE_PREFETCH_NO_FAULT = 2;
    private static final int ADVICE_FLAG_FLUSH = 1;
    private static final int LOCAL_WRITE =
        MemoryUsage.READ_DST.bit() | MemoryUsage.WRITE_DST.bit() | MemoryUsage.RECV.bit();

    private final ProtectionDomain domain;
    private final Segment segment;
    private volatile boolean open = true;
    private volatile boolean quiescent;

    /**
     * Creates the region.
     *
     * @param segment the segment that contains it, or {@code null} if peers cannot map it
     */
    SoftLocalMemoryRegion(ProtectionDomain domain, MemorySegment memory, int usages, int key, Segment segment) {
        super(SoftLog.INSTANCE, memory, usages, key);
        this.domain = domain;
        this.segment = segment;
    }

    /** Returns the implementation of a region. */
    static SoftLocalMemoryRegion of(LocalMemoryRegion region) throws RpmaException {
        if (region == null) {
            return null;
        }
        if (!(region instanceof SoftLocalMemoryRegion soft)) {
            throw SoftLog.failure(RpmaError.INVALID, "the memory region belongs to another provider: " + region);
        }
        soft.checkOpen();
        return soft;
    }

    /** Returns whether usages need memory that can be written. */
    static boolean isWritten(int usages) {
        return (usages & LOCAL_WRITE) != 0;
    }

    ProtectionDomain domain() {
        return domain;
    }

    @Override
    protected boolean isOpen() {
        return open;
    }

    @Override
    public Peer peer() {
        return domain.peer();
    }

    @Override
    public void advise(long offset, long length, int advice, int flags) throws RpmaException {
        checkAdvised(offset, length);
        if (advice < 0 || advice > ADVICE_PREFETCH_NO_FAULT || (flags & ~ADVICE_FLAG_FLUSH) != 0) {
            throw SoftLog.failure(RpmaError.INVALID, "advise: advice " + advice + " with flags " + flags
                + " is not defined by ibv_advise_mr (advice 0 to 2, flags 0 or 1)");
        }
        if (advice == ADVICE_PREFETCH_WRITE && !isWritten(usageBits())) {
            throw SoftLog.failure(RpmaError.INVALID, "advise: the region is not registered for writing (" + usages() + ")");
        }
        if (length == 0) {
            return;
        }
        long first = (address() + offset) / Posix.PAGE_SIZE * Posix.PAGE_SIZE;
        long count = SharedMemory.roundUp(address() + offset + length - first);
        int result = Libc.madvise(first, count, advice == ADVICE_PREFETCH_WRITE ? Libc.MADV_POPULATE_WRITE
            : advice == ADVICE_PREFETCH_NO_FAULT ? Libc.MADV_WILLNEED : Libc.MADV_POPULATE_READ);
        if (result == -Posix.EINVAL) {
            throw SoftLog.failure(RpmaError.NOT_SUPPORTED, Posix.EINVAL,
                "advise: this kernel cannot populate memory (Linux 5.14 can)", null);
        }
        if (result < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "advise: madvise failed: " + Posix.strerror(-result), null);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false;
        }
        LocalProcess process = domain.process();
        GracePeriod period = process.deregister(key(), usageBits());
        if (period == null) {
            reclaim();
        } else if (segment == null) {
            process.limbo().add(period, 0, this::reclaim);
        } else {
            segment.lingering().incrementAndGet();
            process.limbo().add(period, 0, () -> {
                reclaim();
                segment.lingering().decrementAndGet();
            });
        }
        if (segment != null) {
            segment.regions().decrementAndGet();
        }
        domain.remove(usageBits(), segment);
    }

    private void reclaim() {
        domain.process().forget(key());
        quiescent = true;
    }

    @Override
    public boolean isQuiescent() {
        if (!quiescent && !open) {
            domain.process().limbo().sweep();
        }
        return quiescent;
    }
}
