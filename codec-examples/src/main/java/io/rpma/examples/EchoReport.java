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

/**
 * What one end of an echo connection has received and sent.
 *
 * @param received the number of bytes it received
 * @param receivedChecksum the CRC-32C of the received bytes
 * @param sent the number of bytes it sent
 * @param sentChecksum the CRC-32C of the sent bytes
 */
record EchoReport(long received, int receivedChecksum, long sent, int sentChecksum) {
    /** The size of an encoded report in bytes. */
    static final int LENGTH = 2 * (Long.BYTES + Integer.BYTES);

    ByteBuf encode(ByteBufAllocator allocator) {
        return allocator.buffer(LENGTH).writeLong(received).writeInt(receivedChecksum).writeLong(sent).writeInt(sentChecksum);
    }

    static EchoReport decode(ByteBuf bytes) {
        return new EchoReport(bytes.readLong(), bytes.readInt(), bytes.readLong(), bytes.readInt());
    }

    /** Returns whether each end received what the other end sent. */
    boolean matches(EchoReport other) {
        return sent == other.received && sentChecksum == other.receivedChecksum
            && received == other.sent && receivedChecksum == other.sentChecksum;
    }

    @Override
    public String toString() {
        return String.format("received=%d checksum=%08x sent=%d checksum=%08x", received, receivedChecksum, sent, sentChecksum);
    }
}
