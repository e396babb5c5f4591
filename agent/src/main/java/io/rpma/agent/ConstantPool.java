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

package io.rpma.agent;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Searches the constant pool of a class file for strings. Most classes do not contain them and need no further inspection. */
final class ConstantPool {
    private static final int UTF8 = 1;
    private static final int FIRST_ENTRY = 10;

    private ConstantPool() {
    }

    /** Returns whether the constant pool contains an entry that equals one of the ASCII strings. */
    static boolean hasOneOf(byte[] file, Set<String> strings) {
        int count = u2(file, FIRST_ENTRY - 2);
        int at = FIRST_ENTRY;
        for (int entry = 1; entry < count; entry++) {
            int tag = file[at];
            if (tag == UTF8) {
                int length = u2(file, at + 1);
                if (matches(file, at + 3, length, strings)) {
                    return true;
                }
                at += 3 + length;
                continue;
            }
            switch (tag) {
                // Class, String, MethodType, Module, Package
                case 7, 8, 16, 19, 20 -> at += 3;
                // MethodHandle
                case 15 -> at += 4;
                // Integer, Float, field and method references, NameAndType, Dynamic, InvokeDynamic
                case 3, 4, 9, 10, 11, 12, 17, 18 -> at += 5;
                // Long and Double take two entries.
                case 5, 6 -> {
                    at += 9;
                    entry++;
                }
                default -> {
                    return false;
                }
            }
        }
        return false;
    }

    private static boolean matches(byte[] file, int at, int length, Set<String> strings) {
        for (String string : strings) {
            if (string.length() == length && file[at + length - 1] == (byte) string.charAt(length - 1)
                    && new String(file, at, length, StandardCharsets.ISO_8859_1).equals(string)) {
                return true;
            }
        }
        return false;
    }

    private static int u2(byte[] file, int at) {
        return (file[at] & 0xff) << 8 | file[at + 1] & 0xff;
    }
}
