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

import io.rpma.posix.Memory;

/**
 * The payload of the frame that is being received: where the rest of it goes, and how long that is. Only the holder of the queue
 * pair uses it.
 */
final class ArrivingPayload {
    /** The size in bytes from which on a payload is read directly to its target. */
    private static final int DIRECT = 2048;
    /** The most bytes that one system call reads directly. While the kernel copies, it acknowledges nothing that arrives. */
    private static final int MOST_DIRECT = 64 << 10;
    /** The size in bytes from which on the next payload is expected to be as long. */
    private static final int LARGE = 8192;
    /** The bytes read after a large payload: the next header, and little payload that would have to be copied. */
    private static final int SHORT_AHEAD = 256;

    // The target address of the rest of the payload; with 0 it is discarded.
    private long target;
    // The region that contains the target, or null.
    private TcpLocalMemoryRegion region;
    private long left;
    private int ahead = Batch.BUFFER;

    /**
     * Expects the payload of a frame whose header has been received.
     *
     * @param to the address where it goes, 0 in order to discard it
     * @param in the region that contains this address, {@code null} if none has to be held while it is written to
     */
    void expect(long to, TcpLocalMemoryRegion in, long length) {
        target = to;
        region = in;
        left = length;
        ahead = length >= LARGE && to != 0 ? SHORT_AHEAD : Batch.BUFFER;
    }

    /** Discards the rest. */
    void discard() {
        target = 0;
        region = null;
        ahead = Batch.BUFFER;
    }

    /** Called when the frame is complete: forgets the region. */
    void end() {
        region = null;
    }

    /** Returns whether a frame has a payload that has not been received completely. */
    boolean isExpected() {
        return left > 0;
    }

    /** Returns whether the rest is discarded. */
    boolean isDiscarded() {
        return target == 0;
    }

    /** Returns the address where the rest goes, 0 if it is discarded. */
    long target() {
        return target;
    }

    /** Returns the number of bytes that are missing. */
    long left() {
        return left;
    }

    /** Returns how many bytes the next system call reads directly to the target, 0 if they are few or have no target. */
    long directly() {
        return target != 0 && left >= DIRECT ? Math.min(left, MOST_DIRECT) : 0;
    }

    /** Returns how many bytes the next system call reads behind this payload, or behind the last one. */
    int ahead() {
        return ahead;
    }

    /** Holds the target's region, so that it is not closed meanwhile. Returns whether it is still open. */
    boolean enter() {
        return region == null || region.enter();
    }

    /** Ends what {@link #enter} began. */
    void exit() {
        if (region != null) {
            region.exit();
        }
    }

    /** Counts bytes that are in the target already, or that are discarded. Returns whether the frame is complete. */
    boolean advance(long bytes) {
        if (target != 0) {
            target += bytes;
        }
        left -= bytes;
        return left == 0;
    }

    /** Copies the next bytes to the target. The caller has entered its region. */
    void copy(long from, long bytes) {
        Memory.copy(from, target, bytes);
    }
}
