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

import io.netty.buffer.ByteBuf;

import java.util.Arrays;

/** A stream of bytes in which each byte depends on its position, so that each end can create and check any part of it. */
final class Pattern {
    private Pattern() {
    }

    static byte at(long position) {
        return (byte) (position * 0x9E3779B97F4A7C15L >>> 56);
    }

    /** Returns the bytes from {@code position} on. */
    static byte[] bytes(long position, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = at(position + i);
        }
        return bytes;
    }

    /**
     * Appends the bytes from {@code position} on. They are written at once, because leak detection records each access to a
     * buffer.
     */
    static ByteBuf write(ByteBuf target, long position, int length) {
        return target.writeBytes(bytes(position, length));
    }

    /**
     * Compares all readable bytes with those from {@code position} on, and throws an exception at the first byte that differs.
     */
    static void check(ByteBuf data, long position) {
        byte[] found = new byte[data.readableBytes()];
        data.getBytes(data.readerIndex(), found);
        byte[] expected = bytes(position, found.length);
        int at = Arrays.mismatch(found, expected);
        if (at >= 0) {
            throw new IllegalStateException("byte " + (position + at) + " is " + found[at] + ", not " + expected[at]);
        }
    }
}
