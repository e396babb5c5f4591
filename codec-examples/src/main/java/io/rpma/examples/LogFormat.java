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
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/**
 * The layout of a log in a file. The file consists of lanes of equal size, one for each writer. A lane begins with its tail, an
 * aligned word that contains the offset at which the last record ends. Data behind the tail does not belong to the log, whether
 * it is a whole record or a torn one. In the first lane, the size of the lanes follows the tail. The records follow the header.
 * Each has a length, a checksum, a number and a payload, and is padded to eight bytes. All values have the byte order of the
 * machine, because an atomic write uses that order.
 */
final class LogFormat {
    /** The offset of the first record of a lane. */
    static final int HEADER_BYTES = 64;

    /** The offset of the size of the lanes, in the first lane. */
    private static final int LANE_BYTES_OFFSET = 8;

    private static final int RECORD_HEADER_BYTES = 16;

    private LogFormat() {
    }

    /** Returns whether nothing has been written to a log, whose file may have a size nevertheless. */
    static boolean isNew(FileChannel log) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        log.read(header, 0);
        return header.clear().equals(ByteBuffer.allocate(HEADER_BYTES));
    }

    /** Returns the size of the lanes of a log in bytes, or 0 if the log is new. */
    static int laneBytes(FileChannel log) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        log.read(bytes, LANE_BYTES_OFFSET);
        return bytes.hasRemaining() ? 0 : bytes.getInt(0);
    }

    /** Writes the size of the lanes to a new log. */
    static void setLaneBytes(FileChannel log, int bytes) throws IOException {
        log.write(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, bytes), LANE_BYTES_OFFSET);
    }

    /** Returns the number of bytes that a record occupies. */
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

    /** Receives the records of a lane. */
    interface Records {
        void record(long number, ByteBuffer payload) throws IOException;
    }

    /** Reads a lane from its start, and can continue from its last position. */
    static final class Reader {
        private long offset = HEADER_BYTES;
        private long count;

        /** Returns the offset of the next record. */
        long offset() {
            return offset;
        }

        /** Returns the number of records so far. */
        long count() {
            return count;
        }

        /**
         * Reads up to the tail.
         *
         * @param lane the whole lane
         * @param to receives each record that has not been read before
         * @throws IOException if a record is torn, missing or out of order; the message names the record
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
