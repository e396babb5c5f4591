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
package io.rpma.soft.shared;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.Overcommit;
import io.rpma.soft.host.SoftLog;

/**
 * Reserved addresses and their file, which has the size of the addresses from the start, with holes where nothing is committed.
 * Address ranges are allocated from it one after another ({@link Ranges}). A peer maps it once, whole, and need not be notified
 * when more of it is committed; decommitted memory is returned to the system at once, even if peers have it mapped. No part of
 * the file is reused: an operation of a peer that was stopped in it never accesses memory that was reserved later.
 */
public final class Range {
    private static final int SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_SEAL;
    private static final int RESERVED = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_NORESERVE;

    private final int id;
    private final long address;
    private final long size;
    private final int fd;

    // Guarded by the lock of Ranges.
    private long used;
    private int parts;

    private Range(int id, long address, long size, int fd) {
        this.id = id;
        this.address = address;
        this.size = size;
        this.fd = fd;
    }

    /**
     * Reserves addresses and creates a file that is one hole.
     *
     * @param id the number within this process, which is never reused; at least 1
     * @param size in bytes, whole pages
     */
    public static Range create(int id, long size) throws RpmaException {
        long address = Posix.mmap(0, size, 0, RESERVED, -1, 0);
        if (address < 0) {
            throw SoftLog.failure(RpmaError.NO_MEMORY, (int) -address, "a range of " + size + " bytes cannot be reserved: "
                + Posix.strerror((int) -address) + "; check ulimit -v", null);
        }
        int fd = Libc.memfdCreate("rpma-range");
        int result = fd < 0 ? fd : Libc.ftruncate(fd, size);
        result = result < 0 ? result : Libc.addSeals(fd, SEALS);
        if (result < 0) {
            if (fd >= 0) {
                Posix.close(fd);
            }
            Posix.munmap(address, size);
            throw SharedMemory.failed(-result, "creating a memory file", size);
        }
        return new Range(id, address, size, fd);
    }

    // ---- its parts, guarded by the lock of Ranges

    /** Returns the number of bytes that have never been part of an address range. */
    long left() {
        return size - used;
    }

    /**
     * Allocates the next part for an address range.
     *
     * @param bytes whole pages, at most {@link #left()}
     * @return the offset of the part
     */
    long take(long bytes) {
        long offset = used;
        used += bytes;
        parts++;
        return offset;
    }

    /** Releases a part, which is not reused. Returns whether it was the last one. */
    boolean giveBack() {
        return --parts == 0;
    }

    // ---- its memory

    public int id() {
        return id;
    }

    public long address() {
        return address;
    }

    public long size() {
        return size;
    }

    public int fd() {
        return fd;
    }

    /** Commits zeroed memory to a part of the range. */
    public Segment commit(long offset, long length) throws RpmaException {
        if (Overcommit.FORBIDDEN) {
            int result = Allocation.allocate(fd, offset, length);
            if (result < 0) {
                throw SharedMemory.failed(-result, "fallocate", length);
            }
        }
        long result = Posix.mmap(address + offset, length, Posix.PROT_READ | Posix.PROT_WRITE,
            Posix.MAP_SHARED | Posix.MAP_FIXED, fd, offset);
        if (result < 0) {
            punch(offset, length);
            throw SharedMemory.failed((int) -result, "mmap", length);
        }
        return new Segment(this, address + offset, length);
    }

    /** Releases the memory of a part of the range. The addresses stay reserved. */
    public void decommit(long offset, long length) throws RpmaException {
        punch(offset, length);
        long result = Posix.mmap(address + offset, length, 0, RESERVED | Posix.MAP_FIXED, -1, 0);
        if (result < 0) {
            throw SoftLog.failure(RpmaError.NO_MEMORY, (int) -result, "decommit: " + Posix.strerror((int) -result), null);
        }
    }

    private void punch(long offset, long length) {
        int result = Libc.fallocate(fd, Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE, offset, length);
        if (result < 0) {
            // The memory is then freed when the last peer has unmapped the file.
            SoftLog.log(RpmaLog.Level.WARNING, "punching a hole of " + length + " bytes failed: " + Posix.strerror(-result));
        }
    }

    /** Closes the file and releases the addresses. Peers have it mapped until they read their link. */
    public void close() {
        Posix.close(fd);
        Posix.munmap(address, size);
    }
}
