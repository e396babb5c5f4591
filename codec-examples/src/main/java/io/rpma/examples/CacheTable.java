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
package io.rpma.examples;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A table of keys and values in memory that other processes read while it is changed. A key belongs to one bucket, which is read
 * in a single operation. A bucket has {@value #WAYS} slots with a checksum, lengths, a version, a key and a value. A reader that
 * reads a slot during a change sees a wrong checksum and reads again. The table is a cache: if a bucket is full, a new entry
 * replaces the entry that was written the longest time ago.
 */
final class CacheTable {
    /** The size of a slot in bytes. Key and value together may have {@link #MAX_ENTRY_BYTES}. */
    static final int SLOT_BYTES = 512;
    /** The number of slots in a bucket. */
    static final int WAYS = 4;
    /** The number of bytes that a reader reads in a single operation. */
    static final int BUCKET_BYTES = WAYS * SLOT_BYTES;

    private static final int KEY_LENGTH = 4;
    private static final int VALUE_LENGTH = 6;
    private static final int VERSION = 8;
    private static final int KEY = 16;
    static final int MAX_ENTRY_BYTES = SLOT_BYTES - KEY;

    private final ByteBuffer memory;
    private final int buckets;
    private long version;

    /**
     * Creates a table in the given memory.
     *
     * @param memory zeroed memory whose size is a power of two of buckets
     */
    CacheTable(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
        buckets = memory.capacity() / BUCKET_BYTES;
        if (Integer.bitCount(buckets) != 1 || memory.capacity() % BUCKET_BYTES != 0) {
            throw new IllegalArgumentException("a table of " + memory.capacity() + " bytes; it has " + BUCKET_BYTES
                + " bytes times a power of two");
        }
    }

    /** Returns the number of the bucket that a key belongs to. */
    static long bucket(byte[] key, long buckets) {
        CRC32C hash = new CRC32C();
        hash.update(key);
        return hash.getValue() & buckets - 1;
    }

    /** Changes or adds an entry. Only one thread may call this method. */
    void put(byte[] key, ByteBuffer value) {
        if (key.length == 0 || key.length + value.remaining() > MAX_ENTRY_BYTES) {
            throw new IllegalArgumentException("a key of " + key.length + " and a value of " + value.remaining()
                + " bytes; the key has at least 1, both together at most " + MAX_ENTRY_BYTES);
        }
        int bucket = (int) bucket(key, buckets) * BUCKET_BYTES;
        int slot = bucket;
        for (int at = bucket; at < bucket + BUCKET_BYTES; at += SLOT_BYTES) {
            if (Arrays.equals(key(memory, at), key)) {
                slot = at;
                break;
            }
            if (memory.getLong(at + VERSION) < memory.getLong(slot + VERSION)) {
                slot = at;
            }
        }
        // The entry is overwritten in place. Its checksum is written first and stays wrong until the last byte has been written.
        int length = value.remaining();
        ByteBuffer entry = ByteBuffer.allocate(KEY + key.length + length).order(ByteOrder.LITTLE_ENDIAN);
        entry.putShort(KEY_LENGTH, (short) key.length).putShort(VALUE_LENGTH, (short) length).putLong(VERSION, ++version)
            .put(KEY, key).put(KEY + key.length, value, value.position(), length);
        entry.putInt(0, checksum(entry, 0, key.length + length));
        memory.put(slot, entry, 0, entry.capacity());
    }

    private static int checksum(ByteBuffer in, int slot, int bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(in.slice(slot + KEY_LENGTH, KEY - KEY_LENGTH + bytes));
        return (int) checksum.getValue();
    }

    private static byte[] key(ByteBuffer in, int slot) {
        int length = in.getShort(slot + KEY_LENGTH) & 0xffff;
        byte[] key = new byte[Math.min(length, MAX_ENTRY_BYTES)];
        in.get(slot + KEY, key);
        return key;
    }

    /** The result of looking up a key in a bucket. */
    enum Answer {
        /** The key has been found. */
        FOUND,
        /** The key is not in the table. */
        ABSENT,
        /** The bucket was being changed and must be read again. */
        TORN
    }

    /**
     * Looks a key up in a copy of its bucket.
     *
     * @param bucket the copy; if the value is found, the position and the limit are set to enclose it
     */
    static Answer find(ByteBuffer bucket, byte[] key) {
        ByteBuffer in = bucket.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        boolean torn = false;
        for (int slot = 0; slot < BUCKET_BYTES; slot += SLOT_BYTES) {
            int keyLength = in.getShort(slot + KEY_LENGTH) & 0xffff;
            int valueLength = in.getShort(slot + VALUE_LENGTH) & 0xffff;
            if (in.getLong(slot + VERSION) == 0 && in.getInt(slot) == 0 && keyLength == 0) {
                continue;
            }
            if (keyLength + valueLength > MAX_ENTRY_BYTES || in.getInt(slot) != checksum(in, slot, keyLength + valueLength)) {
                torn = true;
            } else if (Arrays.equals(key(in, slot), key)) {
                bucket.limit(slot + KEY + keyLength + valueLength).position(slot + KEY + keyLength);
                return Answer.FOUND;
            }
        }
        return torn ? Answer.TORN : Answer.ABSENT;
    }
}
