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
package io.rpma.tcp;

import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.software.Patience;
import io.rpma.software.SoftwareMemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Registered memory. A thread that reads or writes it for a peer calls {@link #enter} first. {@link #close()} waits for the
 * threads that are inside; each makes at most one system call or copies one buffer, and never waits for a peer.
 */
final class TcpLocalMemoryRegion extends SoftwareMemoryRegion {
    private static final int CLOSED = 1 << 30;
    private static final VarHandle INSIDE;

    static {
        try {
            INSIDE = MethodHandles.lookup().findVarHandle(TcpLocalMemoryRegion.class, "inside", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ProtectionDomain domain;
    // The number of threads that are inside, and the bit CLOSED, after which no thread may enter.
    private int inside;

    TcpLocalMemoryRegion(ProtectionDomain domain, MemorySegment memory, int usages, int key) {
        super(TcpLog.INSTANCE, memory, usages, key);
        this.domain = domain;
    }

    /** Returns the implementation of a region, which must be open. */
    static TcpLocalMemoryRegion of(LocalMemoryRegion region) throws RpmaException {
        if (region == null) {
            return null;
        }
        if (!(region instanceof TcpLocalMemoryRegion tcp)) {
            throw TcpLog.failure(RpmaError.INVALID, "the memory region belongs to another provider: " + region);
        }
        tcp.checkOpen();
        return tcp;
    }

    /** Returns the protection domain that the region belongs to. */
    ProtectionDomain domain() {
        return domain;
    }

    /** Begins to use the memory; returns {@code false} if the region is closed. */
    boolean enter() {
        int before = (int) INSIDE.getAndAdd(this, 1);
        if ((before & CLOSED) != 0) {
            INSIDE.getAndAdd(this, -1);
            return false;
        }
        return true;
    }

    /** Ends the access that {@link #enter} began. */
    void exit() {
        INSIDE.getAndAdd(this, -1);
    }

    @Override
    public Peer peer() {
        return domain.peer();
    }

    /** Refuses advice: nothing is pinned, and there is no device that could fetch pages. */
    @Override
    public void advise(long offset, long length, int advice, int flags) throws RpmaException {
        checkAdvised(offset, length);
        throw TcpLog.failure(RpmaError.NOT_SUPPORTED, Posix.EINVAL, "advise: software RDMA over TCP has no device that fetches"
            + " pages", null);
    }

    @Override
    protected boolean isOpen() {
        return ((int) INSIDE.getAcquire(this) & CLOSED) == 0;
    }

    @Override
    public void close() {
        if (((int) INSIDE.getAndBitwiseOr(this, CLOSED) & CLOSED) != 0) {
            return;
        }
        Patience patience = new Patience();
        while ((int) INSIDE.getAcquire(this) != CLOSED) {
            patience.pause();
        }
        domain.remove(this);
    }

    @Override
    public boolean isQuiescent() {
        return (int) INSIDE.getAcquire(this) == CLOSED;
    }
}
