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
package io.rpma.tcp;

/**
 * The queue of the peer's reads and persistent flushes whose answers have not been sent yet, in the order of arrival. It has
 * memory for as many as there have been at a time, so that a connection without any, such as a stream, needs none.
 */
final class Answers {
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};
    private static final TcpLocalMemoryRegion[] NO_REGIONS = {};
    private static final int LEAST = 8;

    private int[] types = NO_INTS;
    private long[] numbers = NO_LONGS;
    private long[] addresses = NO_LONGS;
    private long[] lengths = NO_LONGS;
    private TcpLocalMemoryRegion[] regions = NO_REGIONS;
    private int first;
    private int count;
    // The result of making the first one persistent, or PENDING.
    private int persisted = PENDING;

    /** The memory has not been written to storage yet. */
    static final int PENDING = 1;

    boolean isEmpty() {
        return count == 0;
    }

    int count() {
        return count;
    }

    private int index(int place) {
        return (first + place) % types.length;
    }

    /** Makes room for more, up to the number that a peer may have outstanding. */
    private void grow() {
        int capacity = Math.min(Math.max(LEAST, 2 * count), Wire.MAX_READS);
        int[] newTypes = new int[capacity];
        long[] newNumbers = new long[capacity];
        long[] newAddresses = new long[capacity];
        long[] newLengths = new long[capacity];
        TcpLocalMemoryRegion[] newRegions = new TcpLocalMemoryRegion[capacity];
        for (int i = 0; i < count; i++) {
            int index = index(i);
            newTypes[i] = types[index];
            newNumbers[i] = numbers[index];
            newAddresses[i] = addresses[index];
            newLengths[i] = lengths[index];
            newRegions[i] = regions[index];
        }
        types = newTypes;
        numbers = newNumbers;
        addresses = newAddresses;
        lengths = newLengths;
        regions = newRegions;
        first = 0;
    }

    /** Adds an answer. Returns whether there was room. */
    boolean add(int type, long number, TcpLocalMemoryRegion region, long address, long length) {
        if (count == Wire.MAX_READS) {
            return false;
        }
        if (count == types.length) {
            grow();
        }
        int index = index(count++);
        types[index] = type;
        numbers[index] = number;
        regions[index] = region;
        addresses[index] = address;
        lengths[index] = length;
        return true;
    }

    int type(int place) {
        return types[index(place)];
    }

    long number(int place) {
        return numbers[index(place)];
    }

    TcpLocalMemoryRegion region(int place) {
        return regions[index(place)];
    }

    long address(int place) {
        return addresses[index(place)];
    }

    long length(int place) {
        return lengths[index(place)];
    }

    /** Sets the result of making the first one persistent: 0, or {@code -errno}. */
    void persisted(int result) {
        persisted = result;
    }

    /** Returns the result of making the first one persistent, {@link #PENDING} as long as there is none. */
    int persisted() {
        return persisted;
    }

    /** Removes the first, if there is one: a queue pair that ends while it gathers answers removes all of them. */
    void remove() {
        if (count == 0) {
            return;
        }
        regions[first] = null;
        first = index(1);
        count--;
        persisted = PENDING;
    }

    /** Removes those to the requests from a number on. */
    void removeFrom(long number) {
        while (count > 0 && number(count - 1) >= number) {
            regions[index(--count)] = null;
        }
        if (count == 0) {
            persisted = PENDING;
        }
    }

    void clear() {
        removeFrom(0);
    }
}
