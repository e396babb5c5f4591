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
package io.rpma.soft.shared;

import io.rpma.posix.Memory;

/**
 * The ring in which the peer of a queue pair publishes that it has filled a posted receive. The peer's process is the only
 * producer, the polling thread the only consumer. An entry is two words: length and immediate data; position, slot, flags and
 * status. The second word is stored last (release), after the message and the first word, and loaded first (acquire). Its
 * position shows that the entry is new, so there is no separate tail to load.
 */
public final class CompletionRing {
    /** Bytes of an entry. */
    public static final int ENTRY = 16;
    /** The message carries immediate data. */
    public static final int IMMEDIATE = 1;
    /** The message was a write, not a send. */
    public static final int WRITE = 2;

    // Always set, so that no entry's second word is 0.
    private static final int PRESENT = 0x80;

    private CompletionRing() {
    }

    public static void publish(long ring, int mask, long position, int slot, long length, int immediate, int flags, int status) {
        long entry = ring + (position & mask) * ENTRY;
        Memory.putLong(entry, length & 0xffff_ffffL | (long) immediate << 32);
        Memory.putLongRelease(entry + 8, position + 1 << 32 | (slot & 0xffffL) << 16
            | (flags | PRESENT) << 8 | status);
    }

    /** Returns the second word of the entry at a position, 0 if it has not been published yet. */
    public static long control(long ring, int mask, long position) {
        long word = Memory.getLongAcquire(ring + (position & mask) * ENTRY + 8);
        return (int) (word >>> 32) == (int) (position + 1) ? word : 0;
    }

    /**
     * Returns whether the entry at a position has been published, or one that has replaced it since. The result is meaningful for
     * an old position, too, which a thread may have if it is not the one that polls.
     */
    public static boolean hasReached(long ring, int mask, long position) {
        long word = Memory.getLongAcquire(ring + (position & mask) * ENTRY + 8);
        return word != 0 && (int) (word >>> 32) - (int) (position + 1) >= 0;
    }

    /** Returns the first word of an entry whose second word {@link #control} has returned. */
    public static long data(long ring, int mask, long position) {
        return Memory.getLong(ring + (position & mask) * ENTRY);
    }

    public static int status(long control) {
        return (int) control & 0xff;
    }

    public static int flags(long control) {
        return (int) (control >>> 8) & 0xff;
    }

    public static int slot(long control) {
        return (int) (control >>> 16) & 0xffff;
    }
}
