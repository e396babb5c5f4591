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
 * How much one operation moves, and what follows from that.
 *
 * @param bytes a multiple of eight
 * @param depth how many may be under way at once
 */
record OneSidedSize(int bytes, int depth) {
    /** What is under way is no more than this, so that it stays a matter of the transport and not of the machine's memory. */
    private static final int UNDER_WAY_BYTES = 8 << 20;
    private static final int LEAST_DEPTH = 2;

    /** Returns sizes with a depth each, which is smaller where they are large. */
    static List<OneSidedSize> of(List<Integer> sizes, int depth) {
        return sizes.stream()
            .map(bytes -> new OneSidedSize(bytes, Math.clamp(UNDER_WAY_BYTES / bytes, Math.min(LEAST_DEPTH, depth), depth)))
            .toList();
    }

    /** Reads what {@link #toWord} has written. */
    static List<OneSidedSize> parse(String word) {
        return Arrays.stream(word.split(",")).map(each -> {
            String[] numbers = each.split("x");
            return new OneSidedSize(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
        }).toList();
    }

    static String toWord(List<OneSidedSize> sizes) {
        return String.join(",", sizes.stream().map(size -> size.bytes + "x" + size.depth).toList());
    }

    /** Returns how much memory all sizes need: each operation under way has its own. */
    static int memory(List<OneSidedSize> sizes) {
        return sizes.stream().mapToInt(size -> size.bytes * size.depth).max().orElseThrow();
    }

    /** Returns the size in words. */
    String title() {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
    }

    int longestMessage() {
        return Math.max(bytes, OneSidedOrder.BYTES);
    }

    /** Returns how many receives the server has: two more than messages can be under way, for orders and ends. */
    int receives() {
        return messages() + 2;
    }

    /** Returns how many work requests of the client can be under way: a write and its flush are two. */
    int requests() {
        return 2 * depth + 2;
    }

    /** Returns how many messages may be sent that the server has not given a credit for. */
    int messages() {
        return depth + creditEvery();
    }

    /** Returns for how many messages there is a credit. */
    int creditEvery() {
        return Math.max(1, depth / 2);
    }
}
