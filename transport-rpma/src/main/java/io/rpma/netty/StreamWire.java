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

package io.rpma.netty;

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;

/**
 * How the 32 bits that belong to each message of a stream ({@link Immediate}) travel: beside the payload, or in front of it. The
 * rest of the stream does not know which. See {@code docs/protocol.md}.
 *
 * <p>Used by the connection's event loop. Nothing is allocated for a message.
 */
abstract class StreamWire {
    /** How many bytes of each message are not payload: they lie in front of it, in the same memory. */
    final int prefix;

    /**
     * Describes the messages.
     *
     * @param prefix the bytes in front of the payload of each
     */
    StreamWire(int prefix) {
        this.prefix = prefix;
    }

    /**
     * Posts a message.
     *
     * @param region where its payload lies; {@code null} if it is empty
     * @param offset of the payload in the region; the {@link #prefix} bytes in front of it are the message's as well
     * @param bytes the length of the payload
     * @param bits of the message
     */
    abstract void send(Connection connection, LocalMemoryRegion region, long offset, int bytes, CompletionFlag flag, int bits,
        long context) throws RpmaException;

    /**
     * Posts a write of large data into an area.
     *
     * @param area where it goes, to the beginning
     * @param bits that tell the peer of it; without effect where {@link #announces()}
     */
    abstract void write(Connection connection, RemoteMemoryRegion area, LocalMemoryRegion region, long offset, int bytes,
        CompletionFlag flag, int bits, long context) throws RpmaException;

    /** Whether the peer learns of a write only by a message of its own, which has to follow: {@link #announce}. */
    final boolean announces() {
        return prefix != 0;
    }

    /**
     * Posts the message that tells the peer of the write before it.
     *
     * @param bytes how many were written
     */
    abstract void announce(Connection connection, int bytes, CompletionFlag flag, int bits, long context) throws RpmaException;

    /**
     * Whether the completion of a send says only that the device has taken it, so that the end of the stream has to be confirmed
     * by the peer ({@link Immediate#SEEN}).
     */
    final boolean confirmsEnd() {
        return prefix != 0;
    }

    /**
     * Finds the bits of a message that has arrived, and hands it on: {@link StreamQueuePair#take}, or
     * {@link StreamQueuePair#refuse} if there are none.
     *
     * @param slot of the receive
     * @param bytes the length that the completion tells
     * @param written whether it was written into memory
     * @param hasImmediate whether it came with immediate data
     * @param immediate the immediate data
     */
    abstract void received(StreamQueuePair to, int slot, int bytes, boolean written, boolean hasImmediate, int immediate);

    /** Releases memory: nothing is under way any more. */
    void close() {
        // There is none.
    }
}
