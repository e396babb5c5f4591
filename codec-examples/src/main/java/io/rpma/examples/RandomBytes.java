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
package io.rpma.examples;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/**
 * Creates random data and random sizes from a seed (SplitMix64). All data is copied from random offsets of one block of random
 * bytes, so that creating it costs no more than a copy, even for the first message. An example therefore measures the transport
 * and not the random number generator.
 */
final class RandomBytes {
    private final byte[] block = new byte[2 * EchoPlan.LARGEST_MESSAGE];
    private long state;

    RandomBytes(long seed) {
        state = seed;
        ByteBuffer longs = ByteBuffer.wrap(block);
        while (longs.hasRemaining()) {
            longs.putLong(nextLong());
        }
    }

    /** Returns a new buffer with the given number of random bytes, at most half of the size of the block. */
    ByteBuf next(ByteBufAllocator allocator, int length) {
        int from = nextInt(block.length - length);
        return allocator.ioBuffer(length, length).writeBytes(block, from, length);
    }

    /** Returns a size from 1 to the given maximum. All orders of magnitude are equally likely. */
    int nextSize(int largest) {
        double unit = (nextLong() >>> 11) * 0x1p-53;
        return (int) Math.min(largest, Math.exp(unit * Math.log(largest + 1.0)));
    }

    private int nextInt(int bound) {
        return (int) Math.unsignedMultiplyHigh(nextLong(), bound);
    }

    private long nextLong() {
        state += 0x9E3779B97F4A7C15L;
        long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
