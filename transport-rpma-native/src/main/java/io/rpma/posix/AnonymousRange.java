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
package io.rpma.posix;

import io.rpma.AddressRange;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;

/** Anonymous memory in a range of reserved addresses. A device can access any memory, so no shared file is needed. */
public final class AnonymousRange implements AddressRange {
    // Without MAP_NORESERVE, which would also exempt the memory committed later from the host's limit of committed memory. Memory
    // with PROT_NONE does not count towards that limit.
    private static final int RESERVED = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS;
    private static final int PROT_NONE = 0;
    private static final long MAX_SIZE = Long.MAX_VALUE - Posix.PAGE_SIZE;

    private final long address;
    private final long size;
    // By offset; guarded by this.
    private final TreeMap<Long, Piece> pieces = new TreeMap<>();
    private boolean closed;

    private record Piece(long length, Arena arena) {
    }

    private AnonymousRange(long address, long size) {
        this.address = address;
        this.size = size;
    }

    /**
     * Reserves a range.
     *
     * @param bytes the size of the range; rounded up to whole pages
     * @return the range, without memory in it
     * @throws RpmaException {@link RpmaError#NO_MEMORY} if the addresses cannot be reserved
     */
    public static AnonymousRange reserve(long bytes) throws RpmaException {
        if (bytes <= 0 || bytes > MAX_SIZE) {
            throw invalid("reserve: the size is " + bytes + " bytes; it must be 1 to " + MAX_SIZE);
        }
        long size = bytes + Posix.PAGE_SIZE - 1 & -Posix.PAGE_SIZE;
        long address = Posix.mmap(0, size, PROT_NONE, RESERVED, -1, 0);
        if (address < 0) {
            throw noMemory("reserve: " + size + " bytes of address space cannot be reserved", address,
                "; 'ulimit -v' limits the address space of a process");
        }
        return new AnonymousRange(address, size);
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
    public synchronized MemorySegment commit(long offset, long length) throws RpmaException {
        checkPart("commit", offset, length);
        Map.Entry<Long, Piece> before = pieces.lowerEntry(offset + length);
        if (before != null && before.getKey() + before.getValue().length() > offset) {
            throw invalid("commit: the part of " + length + " bytes at offset " + offset + " already has memory: "
                + before.getValue().length() + " bytes at offset " + before.getKey());
        }
        // Do not map over the reservation: kernels before 6.12 unmap the addresses first, and if they then refuse the memory,
        // another mapping of the process can take the addresses.
        int result = Posix.mprotect(address + offset, length, Posix.PROT_READ | Posix.PROT_WRITE);
        if (result < 0) {
            // The kernel may have changed the first pages.
            Posix.mprotect(address + offset, length, PROT_NONE);
            throw noMemory("commit: " + length + " bytes of memory cannot be allocated", result,
                "; the memory of the host or of its control group is used up, or vm.max_map_count is reached");
        }
        // A shared arena, which decommit closes, so that a late access through the segment throws instead of crashing.
        Arena arena = Arena.ofShared();
        pieces.put(offset, new Piece(length, arena));
        return MemorySegment.ofAddress(address + offset).reinterpret(length, arena, null);
    }

    @Override
    public synchronized void decommit(long offset, long length) throws RpmaException {
        checkPart("decommit", offset, length);
        Piece piece = pieces.get(offset);
        if (piece == null || piece.length() != length) {
            throw invalid("decommit: no part of " + length + " bytes was committed at offset " + offset);
        }
        try {
            piece.arena().close();
        } catch (IllegalStateException e) {
            throw new RpmaException(RpmaError.INVALID, 0, "decommit: another thread is using the " + length
                + " bytes at offset " + offset, e);
        }
        // Map over the memory instead of unmapping it: the addresses stay reserved. mprotect() would keep the memory, and
        // madvise() its share of the host's limit of committed memory.
        long mapped = Posix.mmap(address + offset, length, PROT_NONE, RESERVED | Posix.MAP_FIXED, -1, 0);
        if (mapped < 0) {
            // The memory stays mapped, and this piece stands for it, until the range is closed or decommit() succeeds.
            pieces.put(offset, new Piece(length, Arena.ofShared()));
            throw noMemory("decommit: the " + length + " bytes at offset " + offset + " could not be released", mapped,
                "; vm.max_map_count may be reached");
        }
        pieces.remove(offset);
    }

    @Override
    public synchronized ByteBuffer buffer(long offset, int length) {
        if (closed || offset < 0 || length < 0 || length > size - offset) {
            throw new IndexOutOfBoundsException("buffer: " + length + " bytes at offset " + offset + " are not within the "
                + (closed ? "range, which is closed" : size + " bytes of the range"));
        }
        long end = offset + length;
        for (long at = offset; at < end;) {
            Map.Entry<Long, Piece> piece = pieces.floorEntry(at);
            if (piece == null || piece.getKey() + piece.getValue().length() <= at) {
                throw new IndexOutOfBoundsException("buffer: there is no memory at offset " + at + "; commit it first");
            }
            at = piece.getKey() + piece.getValue().length();
        }
        return MemorySegment.ofAddress(address + offset).reinterpret(length).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        // Close the pieces one by one: if another thread is using one, the exception leaves a range that can be closed again.
        for (Map.Entry<Long, Piece> entry : pieces.entrySet()) {
            Piece piece = entry.getValue();
            piece.arena().close();
            // The memory stays mapped until the range is closed, and this piece stands for it.
            entry.setValue(new Piece(piece.length(), Arena.ofShared()));
        }
        pieces.clear();
        closed = true;
        int result = Posix.munmap(address, size);
        if (result < 0) {
            throw new IllegalStateException("munmap failed for a mapping of our own: " + Posix.strerror(-result));
        }
    }

    private void checkPart(String what, long offset, long length) throws RpmaException {
        if (closed) {
            throw invalid(what + ": the address range is closed");
        }
        if (offset < 0 || length <= 0 || length > size - offset || ((offset | length) & Posix.PAGE_SIZE - 1) != 0) {
            throw invalid(what + ": " + length + " bytes at offset " + offset + "; a part must consist of whole pages of "
                + Posix.PAGE_SIZE + " bytes within the " + size + " bytes of the range");
        }
    }

    private static RpmaException noMemory(String what, long result, String remedy) {
        int errno = (int) -result;
        return new RpmaException(RpmaError.NO_MEMORY, errno, what + " (errno " + errno + ": " + Posix.strerror(errno) + ")"
            + remedy, null);
    }

    private static RpmaException invalid(String message) {
        return new RpmaException(RpmaError.INVALID, message);
    }
}
