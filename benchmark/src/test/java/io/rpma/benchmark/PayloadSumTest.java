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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadSumTest {
    private static final int BYTES = 64 * 1024;

    @Test
    void knowsTheSumOfTheFirstNumbers() {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            assertEquals(sum, PayloadSum.expected(i));
            sum += i;
        }
        // Beyond 64 bits, both sums wrap around: 2^33 (2^33 - 1) / 2 = 2^65 - 2^32.
        assertEquals(-(1L << 32), PayloadSum.expected(1L << 33));
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 64, 4096, BYTES})
    void sumsWhatComesInPiecesOfAnySize(int stride) {
        Random random = new Random(7);
        ByteBuf stream = Unpooled.directBuffer(BYTES).setZero(0, BYTES);
        PayloadSum.write(stream, 0, BYTES, stride);
        PayloadSum payload = new PayloadSum(stride);
        for (int index = 0; index < BYTES;) {
            int length = Math.min(BYTES - index, 1 + random.nextInt(30));
            payload.add(stream, index, length);
            index += length;
        }
        assertEquals(PayloadSum.expected(BYTES / Long.BYTES, stride), payload.sum());
    }

    @Test
    void sumsWhatComesInSeveralBuffersAtOnce() {
        ByteBuf stream = written();
        CompositeByteBuf parts = Unpooled.compositeBuffer();
        parts.addComponents(true, stream.slice(0, 13), stream.slice(13, 4001), stream.slice(4014, BYTES - 4014));
        PayloadSum payload = new PayloadSum();
        payload.add(parts, 0, BYTES);
        assertEquals(PayloadSum.expected(BYTES / Long.BYTES), payload.sum());
    }

    @Test
    void seesOneBitThatIsOther() {
        ByteBuf stream = written();
        stream.setByte(BYTES / 2 + 3, stream.getByte(BYTES / 2 + 3) ^ 4);
        PayloadSum payload = new PayloadSum();
        payload.add(stream, 0, BYTES);
        assertNotEquals(PayloadSum.expected(BYTES / Long.BYTES), payload.sum());
    }

    private static ByteBuf written() {
        ByteBuf stream = Unpooled.directBuffer(BYTES);
        PayloadSum.write(stream, 0, BYTES / 2);
        PayloadSum.write(stream, BYTES / 2 / Long.BYTES, BYTES / 2);
        return stream;
    }
}
