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

import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;

/**
 * The file behind an address range: as large as the range from the start, with holes where nothing is committed. A peer maps it
 * once, whole, and needs no word when more of it is committed; what is decommitted is given back to the system at once, whoever
 * has it mapped.
 */
final class Range {
    private static final int SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_SEAL;

    private final int id;
    private final long address;
    private final long size;
    private final int fd;

    private Range(int id, long address, long size, int fd) {
        this.id = id;
        this.address = address;
        this.size = size;
        this.fd = fd;
    }

    /**
     * Creates a file that is one hole.
     *
     * @param id the number that this process gives it, never the same twice; at least 1
     * @param address of the reserved addresses
     * @param size of the file in bytes, whole pages
     */
    static Range create(int id, long address, long size) throws RpmaException {
        int fd = Libc.memfdCreate("rpma-range");
        int result = fd < 0 ? fd : Libc.ftruncate(fd, size);
        result = result < 0 ? result : Libc.addSeals(fd, SEALS);
        if (result < 0) {
            if (fd >= 0) {
                Posix.close(fd);
            }
            throw SharedMemory.failed(-result, "making a memory file", size);
        }
        return new Range(id, address, size, fd);
    }

    int id() {
        return id;
    }

    long address() {
        return address;
    }

    long size() {
        return size;
    }

    int fd() {
        return fd;
    }

    /** Puts zeroed memory at a place of the range. */
    Segment commit(long offset, long length) throws RpmaException {
        if (Overcommit.FORBIDDEN) {
            // Where the kernel promises no more than it has, a page that cannot be had would kill the process at its first use.
            int result = Libc.fallocate(fd, 0, offset, length);
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

    /** Gives the memory of a place back; the caller puts something else where it is mapped. */
    void punch(long offset, long length) {
        int result = Libc.fallocate(fd, Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE, offset, length);
        if (result < 0) {
            // Then the memory is free when the last peer has closed the file.
            SoftLog.log(RpmaLog.Level.WARNING, "a hole of " + length + " bytes: " + Posix.strerror(-result));
        }
    }

    void close() {
        Posix.close(fd);
    }
}
