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

import io.rpma.posix.TcpSockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of one thread for the vectors and headers of one send or receive call. Its content is not kept between calls. */
final class Batch {
    /** The largest number of frames in one call. */
    static final int FRAMES = 32;
    /** The size of the buffer for data that is not read directly to its target. */
    static final int BUFFER = 32 << 10;

    private static final int VECTORS = 2 * FRAMES + 2;
    private static final ThreadLocal<Batch> BATCH = ThreadLocal.withInitial(Batch::new);

    // Freed when this object is no longer reachable, after the end of the thread.
    private final MemorySegment segment =
        Arena.ofAuto().allocate(64 + VECTORS * TcpSockets.VECTOR_BYTES + FRAMES * Wire.HEADER + BUFFER, 64);
    private final long header = segment.address();
    private final long vectors = header + 64;
    private final long frames = vectors + VECTORS * TcpSockets.VECTOR_BYTES;
    private final long buffer = frames + FRAMES * Wire.HEADER;

    // For each frame: its kind, its number, and the address, the length and the region of its payload.
    final int[] kinds = new int[FRAMES];
    final long[] numbers = new long[FRAMES];
    final long[] payloads = new long[FRAMES];
    final long[] lengths = new long[FRAMES];
    final TcpLocalMemoryRegion[] regions = new TcpLocalMemoryRegion[FRAMES];
    int count;
    int vectorCount;
    long bytes;

    private Batch() {
    }

    static Batch get() {
        return BATCH.get();
    }

    void reset() {
        count = 0;
        vectorCount = 0;
        bytes = 0;
    }

    /** Returns the message header for two pieces of memory, of which one may be empty and is then omitted. */
    long header(long first, long firstBytes, long second, long secondBytes) {
        int vectors = 0;
        if (firstBytes > 0) {
            set(vectors++, first, firstBytes);
        }
        if (secondBytes > 0) {
            set(vectors++, second, secondBytes);
        }
        return header(vectors);
    }

    /** Returns the {@code struct msghdr} with the first {@code vectorsUsed} vectors. */
    long header(int vectorsUsed) {
        TcpSockets.setVectors(header, vectors, vectorsUsed);
        return header;
    }

    /** Adds a piece of memory. */
    void add(long address, long length) {
        TcpSockets.setVector(vectors, vectorCount++, address, length);
        bytes += length;
    }

    /** Sets one vector. */
    void set(int index, long address, long length) {
        TcpSockets.setVector(vectors, index, address, length);
    }

    /** Returns the place of a frame's header. */
    long frame(int index) {
        return frames + (long) index * Wire.HEADER;
    }

    boolean isFull() {
        return count == FRAMES;
    }

    /** Adds a frame whose header has been written. */
    void addFrame(int kind, long number, long payload, long length, TcpLocalMemoryRegion region) {
        int index = count++;
        kinds[index] = kind;
        numbers[index] = number;
        payloads[index] = payload;
        lengths[index] = length;
        regions[index] = region;
        add(frame(index), Wire.HEADER);
        if (length > 0) {
            add(payload, length);
        }
    }

    /** Returns the buffer for data that is not read directly to its target. */
    long buffer() {
        return buffer;
    }
}
