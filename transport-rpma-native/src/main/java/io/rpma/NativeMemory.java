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

package io.rpma;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies between addresses. Nothing is checked: an address that is not mapped terminates the process. Intended for the memory of
 * {@link AddressRange} and of direct buffers.
 */
public final class NativeMemory {
    // The whole address space. It is a constant, so that the compiler eliminates the bounds checks.
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private NativeMemory() {
    }

    /**
     * Copies memory; the two places may overlap.
     *
     * @param from address of the first byte to read
     * @param to address of the first byte to write
     * @param bytes how many
     */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(ALL, from, ALL, to, bytes);
    }

    /**
     * Copies memory to an array.
     *
     * @param from address of the first byte to read
     * @param to the array
     * @param offset index of the first byte to write
     * @param bytes how many
     */
    public static void copy(long from, byte[] to, int offset, int bytes) {
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, from, to, offset, bytes);
    }

    /**
     * Copies an array to memory.
     *
     * @param from the array
     * @param offset index of the first byte to read
     * @param to address of the first byte to write
     * @param bytes how many
     */
    public static void copy(byte[] from, int offset, long to, int bytes) {
        MemorySegment.copy(from, offset, ALL, ValueLayout.JAVA_BYTE, to, bytes);
    }
}
