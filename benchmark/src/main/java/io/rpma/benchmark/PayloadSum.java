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
package io.rpma.benchmark;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The payload of a stream, and the sum that proves that it was read. The stream is the sequence of 64 bit numbers 0, 1, 2, ...;
 * the sum of its first n is known without having kept any. With a stride, only the numbers at multiples of it are written and
 * read. Not for more than one thread.
 */
final class PayloadSum {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final int stride;
    private long position;
    private long sum;
    /** The bytes of a number that has not arrived as a whole. */
    private long begun;
    private int begunBytes;

    PayloadSum() {
        this(Long.BYTES);
    }

    /**
     * Begins at the beginning of a stream.
     *
     * @param stride how far apart the numbers are that are read, in bytes; a multiple of 8
     */
    PayloadSum(int stride) {
        this.stride = stride;
    }

    /** Writes those numbers of a buffer that are a stride apart; it begins with one. */
    static void write(ByteBuf target, long first, int bytes, int stride) {
        if (stride == Long.BYTES) {
            write(target, first, bytes);
            return;
        }
        int index = target.writerIndex();
        for (int i = 0; i < bytes; i += stride) {
            target.setLongLE(index + i, first + (i >>> 3));
        }
        target.writerIndex(index + bytes);
    }

    /** Writes the numbers from the given one on into a buffer that has room for them. */
    static void write(ByteBuf target, long first, int bytes) {
        int index = target.writerIndex();
        ByteBuffer memory = target.internalNioBuffer(index, bytes);
        int position = memory.position();
        for (int i = 0; i < bytes; i += Long.BYTES) {
            LONGS.set(memory, position + i, first + (i >>> 3));
        }
        target.writerIndex(index + bytes);
    }

    /** Returns the sum of the first so many numbers. */
    static long expected(long numbers) {
        // One of the two factors is even; the product may wrap around, as the sum does.
        return (numbers & 1) == 0 ? numbers / 2 * (numbers - 1) : (numbers - 1) / 2 * numbers;
    }

    /** Returns the sum of those that are a stride apart, of the first so many numbers. */
    static long expected(long numbers, int stride) {
        long step = stride / Long.BYTES;
        return step * expected((numbers + step - 1) / step);
    }

    /** Reads a part of a buffer, whose indexes stay as they are. */
    void add(ByteBuf source, int index, int bytes) {
        if (stride > Long.BYTES) {
            addStrides(source, index, bytes);
        } else if (source.nioBufferCount() == 1) {
            add(source.internalNioBuffer(index, bytes));
        } else {
            for (ByteBuffer part : source.nioBuffers(index, bytes)) {
                add(part);
            }
        }
    }

    /** Returns the sum of the numbers that have arrived as a whole. */
    long sum() {
        return sum;
    }

    private void addStrides(ByteBuf source, int index, int bytes) {
        for (int i = 0; i < bytes;) {
            int offset = (int) ((position + i) % stride);
            if (offset < Long.BYTES) {
                addByte(source.getByte(index + i));
                i++;
            } else {
                i += stride - offset;
            }
        }
        position += bytes;
    }

    private void add(ByteBuffer memory) {
        int i = memory.position();
        int end = memory.limit();
        while (i < end && begunBytes > 0) {
            addByte(memory.get(i++));
        }
        int wholes = end - i & -Long.BYTES;
        sum += sumOf(memory, i, i + wholes);
        i += wholes;
        while (i < end) {
            addByte(memory.get(i++));
        }
    }

    private static long sumOf(ByteBuffer memory, int from, int to) {
        long total = 0;
        for (int i = from; i < to; i += Long.BYTES) {
            total += (long) LONGS.get(memory, i);
        }
        return total;
    }

    private void addByte(byte value) {
        begun |= (value & 0xFFL) << 8 * begunBytes;
        if (++begunBytes == Long.BYTES) {
            sum += begun;
            begun = 0;
            begunBytes = 0;
        }
    }
}
