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

package io.rpma.chaos;

import io.netty.buffer.ByteBuf;

/** Bytes that are calculated from their position and a key, so that both ends can create and check any part of them. */
final class Pattern {
    private Pattern() {
    }

    private static byte at(long key, long position) {
        return (byte) ((position ^ key) * 0x9E3779B97F4A7C15L >>> 56);
    }

    /** Appends bytes to a buffer. */
    static ByteBuf write(ByteBuf target, long key, long position, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = at(key, position + i);
        }
        return target.writeBytes(bytes);
    }

    /** Returns the index of the first readable byte that is wrong, or -1 if there is none. */
    static int mismatch(ByteBuf data, long key, long position) {
        byte[] found = new byte[data.readableBytes()];
        data.getBytes(data.readerIndex(), found);
        for (int i = 0; i < found.length; i++) {
            if (found[i] != at(key, position + i)) {
                return i;
            }
        }
        return -1;
    }
}
