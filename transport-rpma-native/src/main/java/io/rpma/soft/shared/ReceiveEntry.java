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
 * The layout of a posted receive in shared memory, which its owner writes and the initiator of a message reads. The owner keeps a
 * private copy of the fields that it needs again; from the initiator it gets only the entry's number and a count of bytes.
 */
public final class ReceiveEntry {
    /** Bytes of an entry. */
    public static final int SIZE = 32;
    /**
     * The position that is posted at the entry, plus one (long): see {@code ReceiveQueue} and {@link SharedReceives}. The owner
     * stores it last (release); the initiator loads it first (acquire), so that the other fields are those of that position.
     */
    public static final int STATE = 0;
    /** The key of the region that the buffer lies in (int). */
    public static final int KEY = 8;
    /** The length of the buffer in bytes (int). */
    public static final int LENGTH = 12;
    /** The offset of the buffer in the region (long). */
    public static final int OFFSET = 16;
    /** The owner's number of the receive (int). */
    public static final int SLOT = 24;

    private ReceiveEntry() {
    }

    public static void write(long entry, int key, long offset, int length, int slot) {
        Memory.putInt(entry + KEY, key);
        Memory.putInt(entry + LENGTH, length);
        Memory.putLong(entry + OFFSET, offset);
        Memory.putInt(entry + SLOT, slot);
    }
}
