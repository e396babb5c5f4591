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

import io.rpma.posix.Memory;

/** The frames on the wire, as docs/tcp-protocol.md describes them: every number is little endian. */
final class Wire {
    /** Bytes of a frame's header. */
    static final int HEADER = 40;

    /** The server accepts the connection. */
    static final int ACCEPT = 2;
    /** The server refuses the connection, with a text. */
    static final int REJECT = 3;
    /** The client confirms that it has received the acceptance. */
    static final int READY = 4;
    /** A message. */
    static final int SEND = 5;
    /** A write, with or without immediate data. */
    static final int WRITE = 6;
    /** A read: its answer is {@link #READ_DATA}. */
    static final int READ = 7;
    /** The data of a read. */
    static final int READ_DATA = 8;
    /** Eight bytes to be written at once. */
    static final int ATOMIC_WRITE = 9;
    /** Makes earlier writes visible. */
    static final int FLUSH = 10;
    /** Makes earlier writes persistent: its answer is {@link #PERSISTED}. */
    static final int FLUSH_PERSISTENT = 11;
    /** The earlier writes are persistent. */
    static final int PERSISTED = 12;
    /** Carries only the acknowledgement in its header. */
    static final int ACK = 13;
    /** A request was refused; the immediate data is the status that it completes with. */
    static final int NAK = 14;
    /** There was no receive for a request: it and all later ones were dropped. */
    static final int NOT_READY = 15;
    /** There is a receive now: the sender continues from the request. */
    static final int RESUME = 16;

    /** The request has immediate data. */
    static final int WITH_IMMEDIATE = 1;
    /** The sender waits for the acknowledgement of this request. */
    static final int WANTED = 2;
    /**
     * The sender will not send this request again, because its memory may already have changed. If there is no receive for it,
     * the receiver reads no further until there is one.
     */
    static final int ONCE = 4;

    /** The offset of the eight bytes of an atomic write in a header. */
    static final int VALUE = 32;
    /** The number of unanswered reads and persistent flushes that one side may have sent. */
    static final int MAX_READS = 128;
    /** The largest rejection, in bytes. */
    static final int MAX_WORDS = 512;

    private Wire() {
    }

    /** Writes a header. */
    static void write(long at, int type, int flags, int length, int number, int acknowledged, int immediate, long address,
            long key) {
        Memory.putLong(at, type | flags << 8 | (long) length << 32);
        Memory.putInt(at + 8, number);
        Memory.putInt(at + 12, acknowledged);
        Memory.putLong(at + 16, address);
        Memory.putLong(at + 24, key);
        Memory.putLong(at + 32, immediate & 0xffff_ffffL);
    }

    static int type(long at) {
        return Memory.getByte(at) & 0xff;
    }

    static int flags(long at) {
        return Memory.getByte(at + 1) & 0xff;
    }

    /** Returns whether the sender of a request waits for its acknowledgement. */
    static boolean isWanted(long at) {
        return (flags(at) & WANTED) != 0;
    }

    /** Returns the two bytes that are zero in this version. */
    static int reserved(long at) {
        return Memory.getShort(at + 2) | Memory.getInt(at + 36);
    }

    /** Returns the length of the payload that follows or is requested; negative for a length that no message has. */
    static int length(long at) {
        return Memory.getInt(at + 4);
    }

    static int number(long at) {
        return Memory.getInt(at + 8);
    }

    static int acknowledged(long at) {
        return Memory.getInt(at + 12);
    }

    static long address(long at) {
        return Memory.getLong(at + 16);
    }

    static long key(long at) {
        return Memory.getLong(at + 24);
    }

    static int immediate(long at) {
        return Memory.getInt(at + 32);
    }
}
