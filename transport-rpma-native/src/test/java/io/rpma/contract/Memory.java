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
package io.rpma.contract;

import io.rpma.AddressRange;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Memory that the provider has allocated, and patterns that identify the transferred data. */
final class Memory implements AutoCloseable {
    static final Set<MemoryUsage> ALL;

    /**
     * Whether ordinary memory can be registered for flushes to persistence. It cannot if a device executes flushes itself, which
     * librpma 1.3 makes it do if possible. Such a device refuses memory that is not persistent.
     */
    static final boolean IS_PERSISTENCE_TAKEN_ON_TRUST;

    static {
        Set<MemoryUsage> all = EnumSet.allOf(MemoryUsage.class);
        boolean trusted = true;
        try (Peer peer = Contract.DEVICE.newPeer(); Memory memory = new Memory()) {
            MemorySegment any = memory.take(8);
            peer.register(any, EnumSet.complementOf(EnumSet.of(MemoryUsage.FLUSH_PERSISTENT))).close();
            try {
                peer.register(any, all).close();
            } catch (RpmaException e) {
                if (!e.getMessage().contains("FLUSH_PERSISTENT: ")) {
                    throw e;
                }
                trusted = false;
                all.remove(MemoryUsage.FLUSH_PERSISTENT);
            }
        } catch (RpmaException e) {
            throw new UncheckedIOException(e);
        }
        IS_PERSISTENCE_TAKEN_ON_TRUST = trusted;
        ALL = Set.copyOf(all);
    }

    private static final long SIZE = 64L << 20;

    private final AddressRange range;
    private long taken;

    Memory() throws RpmaException {
        range = Contract.PROVIDER.reserve(SIZE);
    }

    /** Returns zeroed memory in whole pages, with at least the given number of bytes. */
    MemorySegment take(long bytes) throws RpmaException {
        long length = (bytes + Posix.PAGE_SIZE - 1) / Posix.PAGE_SIZE * Posix.PAGE_SIZE;
        MemorySegment memory = range.commit(taken, length);
        taken += length;
        return memory.asSlice(0, bytes);
    }

    /** Returns a region of newly allocated memory. */
    LocalMemoryRegion region(Peer peer, long bytes, Set<MemoryUsage> usages) throws RpmaException {
        return peer.register(take(bytes), usages);
    }

    /** Writes a pattern that depends on the seed and the position. */
    static void fill(LocalMemoryRegion region, long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            region.memory().set(JAVA_BYTE, offset + i, pattern(seed, i));
        }
    }

    /** Checks every byte of the pattern. */
    static void assertFilled(LocalMemoryRegion region, long offset, long length, int seed) {
        for (long i = 0; i < length; i++) {
            byte expected = pattern(seed, i);
            byte actual = region.memory().get(JAVA_BYTE, offset + i);
            if (expected != actual) {
                assertEquals(expected, actual, "byte " + i + " of " + length + " at offset " + offset);
            }
        }
    }

    /** Checks that nothing was written to this part. */
    static void assertUntouched(LocalMemoryRegion region, long offset, long length) {
        for (long i = 0; i < length; i++) {
            if (region.memory().get(JAVA_BYTE, offset + i) != 0) {
                assertEquals(0, region.memory().get(JAVA_BYTE, offset + i), "byte at offset " + (offset + i));
            }
        }
    }

    // The pattern is never zero, so that it differs from new memory.
    private static byte pattern(int seed, long place) {
        return (byte) (1 + (seed * 31 + place * 7 + (place >> 8)) % 251);
    }

    @Override
    public void close() {
        range.close();
    }
}
