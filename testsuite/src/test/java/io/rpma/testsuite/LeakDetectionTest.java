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
package io.rpma.testsuite;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.rpma.netty.RpmaByteBufAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that a leak would be found. Without this test, a run without reported leaks would prove nothing. */
class LeakDetectionTest {
    private static final int COLLECTIONS = 20;

    static List<ByteBufAllocator> allocators() {
        return List.of(PooledByteBufAllocator.DEFAULT, new AdaptiveByteBufAllocator(), RpmaByteBufAllocator.DEFAULT);
    }

    @ParameterizedTest
    @MethodSource("allocators")
    void aLostBufferIsFound(ByteBufAllocator allocator) throws InterruptedException {
        assertTrue(CountingLeakDetectors.active(), "the leak detectors are those that count, with the level paranoid");
        assertEquals(List.of(), CountingLeakDetectors.drain());
        lose(allocator);
        List<String> found = CountingLeakDetectors.drain();
        for (int i = 0; i < COLLECTIONS && found.isEmpty(); i++) {
            // A blocked thread may keep its last object alive during a collection.
            found = CountingLeakDetectors.drain();
        }
        assertEquals(1, found.size(), found::toString);
    }

    /** Leaks a buffer. This is a separate method, so that its frame does not exist any more when garbage is collected. */
    private static void lose(ByteBufAllocator allocator) {
        allocator.directBuffer(1).writeByte(1);
    }
}
