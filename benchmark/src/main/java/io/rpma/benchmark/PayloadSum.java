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
 * The payload of a stream, and the sum that proves that the payload was read. The stream is the sequence of the 64-bit numbers 0,
 * 1, 2, ..., so the sum of its first n numbers can be computed without storing them. With a stride, only the numbers at multiples
 * of the stride are written and read. Not safe for use by several threads.
 */
final class PayloadSum {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final int stride;
    private long position;
    private long sum;
    /** The bytes of a number that has arrived only in part. */
    private long begun;
    private int begunBytes;

    PayloadSum() {
        this(Long.BYTES);
    }

    /**
     * Creates a sum at the start of a stream.
     *
     * @param stride the distance in bytes between the numbers that are read; a multiple of 8
     */
    PayloadSum(int stride) {
        this.stride = stride;
    }

    /** Writes the numbers at multiples of the stride to a buffer. The start of the buffer is such a multiple. */
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

    /** Writes consecutive numbers to a buffer that has enough space, starting with the given number. */
    static void write(ByteBuf target, long first, int bytes) {
        int index = target.writerIndex();
        ByteBuffer memory = target.internalNioBuffer(index, bytes);
        int position = memory.position();
        for (int i = 0; i < bytes; i += Long.BYTES) {
            LONGS.set(memory, position + i, first + (i >>> 3));
        }
        target.writerIndex(index + bytes);
    }

    /** Returns the sum of the first {@code numbers} numbers. */
    static long expected(long numbers) {
        // One of the two factors is even; the product may wrap around, as the sum does.
        return (numbers & 1) == 0 ? numbers / 2 * (numbers - 1) : (numbers - 1) / 2 * numbers;
    }

    /** Returns the sum of those among the first {@code numbers} numbers that are at multiples of the stride. */
    static long expected(long numbers, int stride) {
        long step = stride / Long.BYTES;
        return step * expected((numbers + step - 1) / step);
    }

    /** Reads a part of a buffer without changing the indexes of the buffer. */
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

    /** Returns the sum of the numbers that have arrived completely. */
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
