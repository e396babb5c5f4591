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

package io.rpma.netty.stream;

import io.netty.buffer.ByteBuf;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;

/**
 * The way in which the 32 bits of each message of a stream ({@link Immediate}) are transferred: beside the payload, or in front
 * of it. The other classes do not depend on which is used. See {@code docs/protocol.md}.
 *
 * <p>Used by the connection's event loop. Nothing is allocated for a message.
 */
abstract class StreamWire {
    /** Takes the messages whose bits the wire has extracted. */
    interface Sink {
        /** Returns the memory of a message that has arrived. */
        ByteBuf receive(int slot);

        /**
         * Handles a message that has arrived.
         *
         * @param slot the slot of its receive, or a negative number if it has none any more
         * @param bytes the length of its payload, as reported by the peer or the device
         * @param written whether the payload was written into an area
         * @param bits the bits that the peer sent with it
         */
        void take(int slot, int bytes, boolean written, int bits);

        /** Ends the connection, because a message has no valid bits that describe it. */
        void refuse(int slot, String why);
    }

    /** The number of bytes of each message that are not payload; they precede it in the same memory. */
    final int prefix;

    /**
     * Creates a wire.
     *
     * @param prefix the number of bytes in front of the payload of each message
     */
    StreamWire(int prefix) {
        this.prefix = prefix;
    }

    /**
     * Posts a message.
     *
     * @param region the region that contains the payload; {@code null} if it is empty
     * @param offset the offset of the payload in the region; the {@link #prefix} bytes in front of it belong to the message as
     *     well
     * @param bytes the length of the payload
     * @param bits the bits of the message
     */
    abstract void send(Connection connection, LocalMemoryRegion region, long offset, int bytes, CompletionFlag flag, int bits,
        long context) throws RpmaException;

    /**
     * Posts a write of large data to the beginning of an area.
     *
     * @param area the area to write to
     * @param bits the bits that describe the write to the peer; without effect if {@link #announces()}
     */
    abstract void write(Connection connection, RemoteMemoryRegion area, LocalMemoryRegion region, long offset, int bytes,
        CompletionFlag flag, int bits, long context) throws RpmaException;

    /** Returns whether the peer is notified of a write only by a separate message, which has to follow: {@link #announce}. */
    final boolean announces() {
        return prefix != 0;
    }

    /**
     * Posts the message that notifies the peer of the preceding write.
     *
     * @param bytes the number of bytes that were written
     */
    abstract void announce(Connection connection, int bytes, CompletionFlag flag, int bits, long context) throws RpmaException;

    /**
     * Returns whether the completion of a send only means that the device has taken it, so that the peer has to confirm the end
     * of the stream ({@link Immediate#SEEN}).
     */
    final boolean confirmsEnd() {
        return prefix != 0;
    }

    /**
     * Extracts the bits of a message that has arrived, and calls {@link Sink#take}, or {@link Sink#refuse}
     * if there are none.
     *
     * @param slot the slot of the receive
     * @param bytes the length that the completion contains
     * @param written whether the payload was written into memory
     * @param hasImmediate whether it arrived with immediate data
     * @param immediate the immediate data
     */
    abstract void received(Sink to, int slot, int bytes, boolean written, boolean hasImmediate, int immediate);

    /** Releases memory; nothing may be under way any more. */
    void close() {
        // There is none.
    }
}
