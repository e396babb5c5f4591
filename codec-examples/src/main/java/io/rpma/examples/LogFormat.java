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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * How a log lies in a file: lanes of one size, one for each writer. A lane begins with its tail, an aligned word that says where
 * its last record ends; what lies beyond is not there, whole or torn. Then come the records: length, checksum, number, payload,
 * padded to eight bytes. All in the byte order of the machine, as an atomic write is.
 */
final class LogFormat {
    /** Where a lane's first record begins. */
    static final int HEADER_BYTES = 64;

    private static final int RECORD_HEADER_BYTES = 16;

    private LogFormat() {
    }

    /** The room that a record takes. */
    static int recordBytes(int payload) {
        return RECORD_HEADER_BYTES + payload + 7 & ~7;
    }

    /** Writes a record to a new buffer. */
    static ByteBuf record(ByteBufAllocator allocator, long number, byte[] payload) {
        int bytes = recordBytes(payload.length);
        ByteBuffer record = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        record.putInt(0, payload.length).putLong(8, number).put(RECORD_HEADER_BYTES, payload);
        record.putInt(4, checksum(record, payload.length));
        return allocator.directBuffer(bytes).writeBytes(record);
    }

    private static int checksum(ByteBuffer record, int payload) {
        CRC32C checksum = new CRC32C();
        checksum.update(record.slice(8, Long.BYTES + payload));
        return (int) checksum.getValue();
    }

    /** What a lane's records are given to. */
    interface Records {
        void record(long number, ByteBuffer payload) throws IOException;
    }

    /** Reads a lane from its beginning, or on from where it was before. */
    static final class Reader {
        private long offset = HEADER_BYTES;
        private long count;

        /** Where the next record will begin. */
        long offset() {
            return offset;
        }

        /** How many records there are. */
        long count() {
            return count;
        }

        /**
         * Reads up to the tail.
         *
         * @param lane the lane, from its first byte on
         * @param to gets each record that was not read before
         * @throws IOException if a record is torn, missing or out of order; the message says which
         */
        void read(ByteBuffer lane, Records to) throws IOException {
            ByteBuffer bytes = lane.duplicate().order(ByteOrder.nativeOrder());
            long tail = bytes.getLong(0);
            if (tail == 0 && count == 0) {
                return;
            }
            if (tail < offset || tail > lane.capacity()) {
                throw new IOException("the tail is " + tail + ", outside of " + offset + " to " + lane.capacity());
            }
            while (offset < tail) {
                if (tail - offset < RECORD_HEADER_BYTES) {
                    throw new IOException("record " + count + " at " + offset + " has no room before the tail at " + tail);
                }
                int at = (int) offset;
                int length = bytes.getInt(at);
                if (length < 0 || recordBytes(length) > tail - offset) {
                    throw new IOException("record " + count + " at " + offset + " has " + length + " bytes, beyond the tail at "
                        + tail);
                }
                ByteBuffer record = bytes.slice(at, recordBytes(length)).order(ByteOrder.nativeOrder());
                if (record.getLong(8) != count || record.getInt(4) != checksum(record, length)) {
                    throw new IOException("record " + count + " at " + offset + " is torn, or is another: it calls itself "
                        + record.getLong(8));
                }
                to.record(count, record.slice(RECORD_HEADER_BYTES, length));
                count++;
                offset += recordBytes(length);
            }
        }
    }
}
