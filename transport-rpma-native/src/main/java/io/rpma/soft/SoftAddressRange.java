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

import io.rpma.AddressRange;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.Ranges;
import io.rpma.soft.shared.Segment;
import io.rpma.soft.shared.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;

/** A reserved range of addresses; what is committed in it lies in a file that peers can map. */
final class SoftAddressRange implements AddressRange {
    private static final int EBUSY = 16;

    private final LocalProcess process;
    private final Ranges.Part part;
    private final long address;
    private final long size;
    private final TreeMap<Long, Segment> pieces = new TreeMap<>();
    private boolean closed;

    SoftAddressRange(LocalProcess process, long bytes) throws RpmaException {
        if (bytes <= 0 || bytes > SharedMemory.MAX_SIZE) {
            throw SoftLog.failure(RpmaError.INVALID, "a range of " + bytes + " bytes was requested; the size must be 1 to "
                + SharedMemory.MAX_SIZE);
        }
        this.process = process;
        size = SharedMemory.roundUp(bytes);
        part = process.ranges().take(size);
        address = part.range().address() + part.offset();
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
        checkOpen();
        if (offset < 0 || length <= 0 || length > size || offset > size - length
            || offset % Posix.PAGE_SIZE != 0 || length % Posix.PAGE_SIZE != 0) {
            throw SoftLog.failure(RpmaError.INVALID, "commit: " + length + " bytes at offset " + offset
                + " are not whole pages of " + Posix.PAGE_SIZE + " bytes within the range of " + size);
        }
        Map.Entry<Long, Segment> before = pieces.lowerEntry(offset + length);
        if (before != null && before.getKey() + before.getValue().size() > offset) {
            throw SoftLog.failure(RpmaError.INVALID, "commit: " + length + " bytes at offset " + offset
                + " overlap memory committed at offset " + before.getKey() + " (" + before.getValue().size() + " bytes)");
        }
        Segment segment = part.range().commit(part.offset() + offset, length);
        pieces.put(offset, segment);
        process.add(segment);
        return Memory.segment(address + offset, length);
    }

    @Override
    public synchronized void decommit(long offset, long length) throws RpmaException {
        checkOpen();
        Segment segment = pieces.get(offset);
        if (segment == null || segment.size() != length) {
            throw SoftLog.failure(RpmaError.INVALID, "decommit: no part of " + length + " bytes was committed at offset "
                + offset);
        }
        if (segment.regions().get() > 0) {
            throw SoftLog.failure(RpmaError.INVALID, "decommit: " + segment.regions().get()
                + " memory regions are still registered in the part at offset " + offset + "; close them first");
        }
        if (segment.lingering().get() > 0) {
            process.limbo().sweep();
            if (segment.lingering().get() > 0) {
                throw SoftLog.failure(RpmaError.PROVIDER, EBUSY, "decommit: a process that has stopped in the middle of an"
                    + " operation may still write to the part at offset " + offset + "; decommit it when"
                    + " LocalMemoryRegion.isQuiescent returns true, or close the range", null);
            }
        }
        pieces.remove(offset);
        process.remove(segment);
        boolean done = false;
        try {
            part.range().decommit(part.offset() + offset, length);
            done = true;
        } finally {
            if (!done) {
                // The memory stays mapped, and this piece stands for it, until the range is closed or decommit() succeeds.
                pieces.put(offset, segment);
                process.add(segment);
            }
        }
    }

    @Override
    public synchronized ByteBuffer buffer(long offset, int length) {
        Map.Entry<Long, Segment> piece = closed ? null : pieces.floorEntry(offset);
        if (piece == null || length < 0 || offset > size - length) {
            throw new IllegalArgumentException("no memory is committed at offset " + offset + " for " + length + " bytes");
        }
        long end = piece.getKey() + piece.getValue().size();
        while (end < offset + length) {
            Segment following = pieces.get(end);
            if (following == null) {
                throw new IllegalArgumentException("no memory is committed at offset " + end + " for " + length
                    + " bytes from " + offset);
            }
            end += following.size();
        }
        return Memory.segment(address + offset, length).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    private void checkOpen() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the address range is closed");
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        for (Map.Entry<Long, Segment> piece : pieces.entrySet()) {
            int regions = piece.getValue().regions().get();
            if (regions > 0) {
                throw new IllegalStateException(regions + " memory regions are still registered in the part at offset "
                    + piece.getKey() + "; close them before the range");
            }
        }
        closed = true;
        pieces.values().forEach(process::remove);
        pieces.clear();
        try {
            // The memory is released at once. Peers have it mapped until they read their link, and a stopped peer may still
            // write to it, which does no harm because this part of the file is never reused.
            part.range().decommit(part.offset(), size);
        } catch (RpmaException e) {
            // The failure has been logged. The addresses are released with the file.
        }
        Range unused = process.ranges().giveBack(part);
        if (unused != null) {
            process.withdraw(unused);
            unused.close();
        }
    }
}
