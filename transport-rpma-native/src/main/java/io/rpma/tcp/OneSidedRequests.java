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

import io.rpma.CompletionStatus;
import io.rpma.MemoryUsage;
import io.rpma.RpmaLog;
import io.rpma.posix.Memory;

/**
 * Executes the one-sided requests of the peer that have no payload, after it has checked them: reads, atomic writes and flushes.
 * Their header has been received. Only the holder of the queue pair uses it.
 */
final class OneSidedRequests {
    private final ErrorState pair;
    private final ProtectionDomain domain;
    private final Transmitter transmitter;
    private final long header;

    /**
     * Creates the executor of a queue pair.
     *
     * @param domain whose regions the peer can access
     * @param header the address of the header of the current frame
     */
    OneSidedRequests(ErrorState pair, ProtectionDomain domain, Transmitter transmitter, long header) {
        this.pair = pair;
        this.domain = domain;
        this.transmitter = transmitter;
        this.header = header;
    }

    /** Returns the region that a request accesses. If the access is not allowed, refuses the request and returns {@code null}. */
    TcpLocalMemoryRegion reach(long number, MemoryUsage usage, long length) {
        TcpLocalMemoryRegion found = domain.find(Wire.key(header));
        if (found != null && found.allows(usage.bit()) && found.contains(Wire.address(header) - found.address(), length)) {
            return found;
        }
        pair.refuse(number, CompletionStatus.REM_ACCESS_ERR);
        return null;
    }

    void read(long number, int length) {
        TcpLocalMemoryRegion found = length == 0 ? null : reach(number, MemoryUsage.READ_SRC, length);
        if (length > 0 && found == null) {
            return;
        }
        if (!transmitter.answers().add(Wire.READ, number, found, Wire.address(header), length)) {
            pair.violated("more reads than " + Wire.MAX_READS + " at a time");
            return;
        }
        transmitter.executed(number, false);
    }

    void atomicWrite(long number) {
        TcpLocalMemoryRegion found = reach(number, MemoryUsage.WRITE_DST, Long.BYTES);
        if (found == null) {
            return;
        }
        if (!found.enter()) {
            pair.refuse(number, CompletionStatus.REM_ACCESS_ERR);
            return;
        }
        long to = Wire.address(header);
        long value = Memory.getLong(header + Wire.VALUE);
        try {
            if (to % Long.BYTES == 0) {
                Memory.putLongRelease(to, value);
            } else {
                Memory.copy(header + Wire.VALUE, to, Long.BYTES);
            }
        } catch (InternalError e) {
            TcpLog.log(RpmaLog.Level.ERROR, "registered memory is no longer mapped: the connection ends");
            pair.breakOff();
            return;
        } finally {
            found.exit();
        }
        transmitter.executed(number, Wire.isWanted(header));
    }

    void flush(int type, long number, long length) {
        boolean persistent = type == Wire.FLUSH_PERSISTENT;
        TcpLocalMemoryRegion found =
            reach(number, persistent ? MemoryUsage.FLUSH_PERSISTENT : MemoryUsage.FLUSH_VISIBILITY, length);
        if (found == null) {
            return;
        }
        if (persistent && !transmitter.answers().add(type, number, found, Wire.address(header), length)) {
            pair.violated("more flushes than " + Wire.MAX_READS + " at a time");
            return;
        }
        transmitter.executed(number, !persistent && Wire.isWanted(header));
    }
}
