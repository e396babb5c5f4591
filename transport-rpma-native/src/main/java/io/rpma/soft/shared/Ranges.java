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

import io.rpma.RpmaException;

/**
 * The files that contain the address ranges of this process. Their number is kept small: each file costs a descriptor here, and
 * for each connected process a mapping there and a message on its link, which has room for some hundred. So small ranges share a
 * file. Large ones have a file of their own, which is sent only to the peers that need it, until there are {@value #MOST_OWN};
 * then they share as well, in files whose size grows with their number.
 */
public final class Ranges {
    /** The size of a file that ranges share, in bytes; addresses and a hole, not memory. */
    static final long SHARED = 1L << 30;
    /** Ranges from this size on have a file of their own. */
    public static final long LARGE = SHARED / 16;
    /** The largest number of files that contain a single range. */
    static final int MOST_OWN = 32;

    private Range current;
    private long shared;
    private int own;
    private int lastId;

    /**
     * A part of a file that is one address range.
     *
     * @param range the file
     * @param offset the offset of the part in the file
     * @param size in bytes, whole pages
     * @param isOwn whether it is all of the file
     */
    public record Part(Range range, long offset, long size, boolean isOwn) {
    }

    /** Finds room for an address range of whole pages. */
    public synchronized Part take(long size) throws RpmaException {
        if (size >= LARGE && own < MOST_OWN) {
            Range range = Range.create(++lastId, size);
            own++;
            return new Part(range, range.take(size), size, true);
        }
        if (current == null || current.left() < size) {
            // The current file is closed with its last part. Each file is at least half as large as all earlier ones together.
            Range next = create(Math.max(size, Math.clamp(shared / 2, SHARED, SharedMemory.MAX_SIZE)), size);
            shared += next.size();
            current = next;
        }
        return new Part(current, current.take(size), size, false);
    }

    private Range create(long size, long needed) throws RpmaException {
        try {
            return Range.create(++lastId, size);
        } catch (RpmaException e) {
            if (size == needed) {
                throw e;
            }
            // The addresses of this process may be limited (ulimit -v).
            return Range.create(++lastId, needed);
        }
    }

    /**
     * Releases a part.
     *
     * @return the file if it was its last part, which the caller withdraws from the peers and closes; otherwise {@code null}
     */
    public synchronized Range giveBack(Part part) {
        Range range = part.range();
        if (!range.giveBack()) {
            return null;
        }
        if (part.isOwn()) {
            own--;
        } else {
            shared -= range.size();
        }
        if (range == current) {
            current = null;
        }
        return range;
    }
}
