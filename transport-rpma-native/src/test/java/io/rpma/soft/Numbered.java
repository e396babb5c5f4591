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
package io.rpma.soft;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

/**
 * Messages that contain their sender and their number, and whose completeness can be checked. Their lengths depend on the number.
 */
final class Numbered {
    /** The length of the longest message in bytes. */
    static final int MAX = 1024;

    private static final int HEAD = 12;

    private Numbered() {
    }

    /** Returns the length of a message in bytes. */
    static int length(int number) {
        return HEAD + (number * 31 & 0x7fff_ffff) % 200 + (number % 97 == 0 ? 700 : 0);
    }

    static void write(MemorySegment memory, long offset, int sender, int number) {
        int length = length(number);
        memory.set(JAVA_INT_UNALIGNED, offset, sender);
        memory.set(JAVA_INT_UNALIGNED, offset + 4, number);
        for (int i = HEAD; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (number + i * 3 + sender));
        }
        memory.set(JAVA_INT_UNALIGNED, offset + 8, checksum(memory, offset, length));
    }

    private static int checksum(MemorySegment memory, long offset, int length) {
        int sum = memory.get(JAVA_INT_UNALIGNED, offset) * 31 + memory.get(JAVA_INT_UNALIGNED, offset + 4);
        for (int i = HEAD; i < length; i++) {
            sum = sum * 31 + memory.get(ValueLayout.JAVA_BYTE, offset + i);
        }
        return sum;
    }

    /** Checks a received message. Fails unless it is the expected one. */
    static void check(MemorySegment memory, long offset, int length, int sender, int number) {
        int foundSender = memory.get(JAVA_INT_UNALIGNED, offset);
        int foundNumber = memory.get(JAVA_INT_UNALIGNED, offset + 4);
        if (foundSender != sender || foundNumber != number || length != length(number)
            || memory.get(JAVA_INT_UNALIGNED, offset + 8) != checksum(memory, offset, length)) {
            throw new AssertionError("message " + foundNumber + " of " + foundSender + " with " + length
                + " bytes or a damaged message arrived instead of message " + number + " of " + sender + " with " + length(number)
                + " bytes");
        }
    }
}
