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

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests copies that bypass the caches: every alignment, no writes beside the target, overlaps. */
class StreamingCopyTest {
    private static final int MAX = 1 << 20;

    @Test
    void isThereOnThisProcessor() {
        assertEquals(System.getProperty("os.arch").equals("amd64"), StreamingCopy.isAvailable());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, StreamingCopy.MIN_BYTES - 1, StreamingCopy.MIN_BYTES, StreamingCopy.MIN_BYTES + 1, 10_000, 65_536,
        (256 << 10) + 127, 700_001})
    void copiesWhatItIsToldAndNothingElse(int length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(MAX, 64);
            MemorySegment target = arena.allocate(MAX, 64);
            source.copyFrom(MemorySegment.ofArray(random()));
            int step = length > 100_000 ? 13 : 1;
            for (int shift = 0; shift < 64; shift += step) {
                for (int other = 0; other < 64; other += 21) {
                    target.fill((byte) 7);
                    StreamingCopy.copy(source.address() + other, target.address() + 64 + shift, length);
                    assertEquals(-1, source.asSlice(other, length).mismatch(target.asSlice(64 + shift, length)));
                    for (int i = 0; i < 64 + shift; i++) {
                        assertEquals(7, target.get(JAVA_BYTE, i));
                    }
                    for (int i = 64 + shift + length; i < 64 + shift + length + 128; i++) {
                        assertEquals(7, target.get(JAVA_BYTE, i));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-100_001, -64, -1, 0, 1, 64, 100_001})
    void whatOverlapsIsCopiedAllTheSame(int distance) {
        byte[] data = random();
        int length = 200_000;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MAX, 64);
            memory.copyFrom(MemorySegment.ofArray(data));
            StreamingCopy.copy(memory.address() + 300_000, memory.address() + 300_000 + distance, length);
            assertEquals(-1, MemorySegment.ofArray(data).asSlice(300_000, length)
                .mismatch(memory.asSlice(300_000 + distance, length)));
        }
    }

    private static byte[] random() {
        byte[] data = new byte[MAX];
        new Random(1).nextBytes(data);
        return data;
    }
}
