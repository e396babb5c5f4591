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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

class RandomBytesTest {
    @Test
    void sizesReachFromOneByteToTheLargest() {
        RandomBytes random = new RandomBytes(1);
        int smallest = Integer.MAX_VALUE;
        int largest = 0;
        int[] byMagnitude = new int[24];
        for (int i = 0; i < 100_000; i++) {
            int size = random.nextSize(EchoPlan.LARGEST_MESSAGE);
            smallest = Math.min(smallest, size);
            largest = Math.max(largest, size);
            byMagnitude[31 - Integer.numberOfLeadingZeros(size)]++;
        }
        assertEquals(1, smallest);
        assertTrue(largest > EchoPlan.LARGEST_MESSAGE * 0.99 && largest <= EchoPlan.LARGEST_MESSAGE, "largest " + largest);
        for (int magnitude = 0; magnitude < 23; magnitude++) {
            assertTrue(byMagnitude[magnitude] > 3_000, "2^" + magnitude + ": " + byMagnitude[magnitude]);
        }
    }

    @Test
    void everyByteIsRandomFromTheFirstToTheLast() {
        RandomBytes random = new RandomBytes(1);
        int length = 13;
        boolean[] seen = new boolean[length];
        for (int i = 0; i < 100; i++) {
            ByteBuf bytes = random.next(UnpooledByteBufAllocator.DEFAULT, length);
            assertEquals(length, bytes.readableBytes());
            for (int at = 0; at < length; at++) {
                seen[at] |= bytes.getByte(at) != 0;
            }
            bytes.release();
        }
        for (int at = 0; at < length; at++) {
            assertTrue(seen[at], "byte " + at);
        }
    }
}
