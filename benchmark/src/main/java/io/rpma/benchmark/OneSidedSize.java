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

import java.util.Arrays;
import java.util.List;

/**
 * The size of an operation, and the limits that depend on it.
 *
 * @param bytes the size in bytes, a multiple of eight
 * @param depth the maximum number of outstanding operations
 */
record OneSidedSize(int bytes, int depth) {
    /**
     * The maximum number of outstanding bytes. It is limited so that the transport determines the result and not the machine's
     * memory.
     */
    private static final int UNDER_WAY_BYTES = 8 << 20;
    private static final int LEAST_DEPTH = 2;

    /** Returns the given sizes, each with a depth that decreases for large sizes. */
    static List<OneSidedSize> of(List<Integer> sizes, int depth) {
        return sizes.stream()
            .map(bytes -> new OneSidedSize(bytes, Math.clamp(UNDER_WAY_BYTES / bytes, Math.min(LEAST_DEPTH, depth), depth)))
            .toList();
    }

    /** Parses the result of {@link #toWord}. */
    static List<OneSidedSize> parse(String word) {
        return Arrays.stream(word.split(",")).map(each -> {
            String[] numbers = each.split("x");
            return new OneSidedSize(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        }).toList();
    }

    static String toWord(List<OneSidedSize> sizes) {
        return String.join(",", sizes.stream().map(size -> size.bytes + "x" + size.depth).toList());
    }

    /** Returns how much memory suffices for each of the sizes. Each outstanding operation has its own part of it. */
    static int memory(List<OneSidedSize> sizes) {
        return sizes.stream().mapToInt(size -> size.bytes * size.depth).max().orElseThrow();
    }

    /** Returns the size as text. */
    String title() {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
    }

    int longestMessage() {
        return Math.max(bytes, OneSidedOrder.BYTES);
    }

    /**
     * Returns the number of receives of the server: the maximum number of outstanding messages, and two for orders and end
     * messages.
     */
    int receives() {
        return messages() + 2;
    }

    /** Returns the maximum number of outstanding work requests of the client. A write with a flush needs two. */
    int requests() {
        return 2 * depth + 2;
    }

    /** Returns how many messages may be sent before the server has to return a credit. */
    int messages() {
        return depth + creditEvery();
    }

    /** Returns the number of messages that one credit covers. */
    int creditEvery() {
        return Math.max(1, depth / 2);
    }
}
