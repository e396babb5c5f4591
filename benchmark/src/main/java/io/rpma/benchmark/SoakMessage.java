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

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The messages of a soak test. A message contains its number on its connection, content that is computed from the number, the
 * number of the connection, and the CRC-32C of all that. Not safe for use by several threads.
 */
final class SoakMessage {
    /** The size of the smallest message in bytes. The size of every message is a multiple of eight. */
    static final int SMALLEST = 16;
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final CRC32C crc = new CRC32C();
    private final int bytes;

    /** Creates an object for messages of the given size. */
    SoakMessage(int bytes) {
        if (bytes < SMALLEST || bytes % Long.BYTES != 0) {
            throw new IllegalArgumentException("messages of " + bytes + " B: at least " + SMALLEST + ", and a multiple of 8");
        }
        this.bytes = bytes;
    }

    int bytes() {
        return bytes;
    }

    /** Writes a message. */
    void write(ByteBuf target, int connection, long number) {
        long content = number;
        for (int i = Long.BYTES; i < bytes; i += Long.BYTES) {
            target.writeLong(content);
            content = (content + connection) * MIX;
        }
        target.writeInt(connection);
        target.writeInt(sum(target, target.writerIndex() - (bytes - Integer.BYTES)));
    }

    /** Returns the connection number that a message contains. */
    int connection(ByteBuf message) {
        return message.getInt(message.readerIndex() + bytes - 2 * Integer.BYTES);
    }

    /** Checks that a message is undamaged and is the next one of a connection. */
    void check(ByteBuf message, int connection, long number) {
        if (message.readableBytes() != bytes) {
            throw new IllegalStateException("a message of " + message.readableBytes() + " B instead of " + bytes);
        }
        int first = message.readerIndex();
        int sum = message.getInt(first + bytes - Integer.BYTES);
        if (sum(message, first) != sum) {
            throw new IllegalStateException("message " + number + " of connection " + connection + " is damaged: "
                + "its checksum is wrong");
        }
        if (connection(message) != connection) {
            throw new IllegalStateException("a message of connection " + connection(message) + " came on connection "
                + connection);
        }
        long arrived = message.getLong(first);
        if (arrived != number) {
            throw new IllegalStateException("message " + arrived + " came in place of message " + number + " of connection "
                + connection + (arrived < number ? ": a duplicate, or late" : ": lost, or late"));
        }
    }

    private int sum(ByteBuf buffer, int index) {
        ByteBuffer memory = buffer.internalNioBuffer(index, bytes - Integer.BYTES);
        crc.reset();
        crc.update(memory);
        return (int) crc.getValue();
    }
}
