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
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Sends the bits of each message in front of its payload, for devices without immediate data ({@code rpma_send(3)}). Large data
 * is written by {@code rpma_write(3)}, and announced by a message that follows, which contains its bits and the number of bytes
 * written.
 */
public final class PrefixWire extends StreamWire {
    /** The length of the bits in bytes. */
    static final int BYTES = Integer.BYTES;
    /** The length of the message that announces large data, in bytes. */
    public static final int ANNOUNCEMENT_BYTES = 2 * Integer.BYTES;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final LocalMemoryRegion region;
    // The messages without payload; one place for each message that can be under way.
    private final RpmaByteBuf bare;
    private final int mask;

    /**
     * Allocates the memory for messages without payload.
     *
     * @param slots how many messages can be under way; a power of two. The context of a message determines its place
     * @throws RpmaException {@link RpmaError#NO_MEMORY}, or if the memory cannot be registered
     */
    PrefixWire(Fabric fabric, int slots) throws RpmaException {
        super(BYTES);
        int bytes = slots * ANNOUNCEMENT_BYTES;
        bare = RegisteredMemory.registered(bytes, bytes);
        if (bare == null) {
            throw new RpmaException(RpmaError.NO_MEMORY, "no registered memory is left for the " + bytes + " bytes of a"
                + " connection without immediate data: " + RegisteredMemory.registeredBytes()
                + " bytes are registered; -Dio.rpma.netty.maxRegisteredBytes sets the limit");
        }
        mask = slots - 1;
        try {
            region = bare.slab().region(fabric);
        } catch (RpmaException | RuntimeException e) {
            bare.release();
            throw e;
        }
    }

    private int index(long context) {
        return ((int) context & mask) * ANNOUNCEMENT_BYTES;
    }

    @Override
    void send(Connection connection, LocalMemoryRegion from, long offset, int bytes, CompletionFlag flag, int bits, long context)
            throws RpmaException {
        if (from == null) {
            int at = index(context);
            bare.setInt(at, bits);
            connection.send(region, bare.block().offset + at, BYTES, flag, context);
        } else {
            from.memory().set(WORD, offset - BYTES, bits);
            connection.send(from, offset - BYTES, BYTES + bytes, flag, context);
        }
    }

    @Override
    void write(Connection connection, RemoteMemoryRegion area, LocalMemoryRegion from, long offset, int bytes,
            CompletionFlag flag, int bits, long context) throws RpmaException {
        connection.write(area, 0, from, offset, bytes, flag, context);
    }

    @Override
    void announce(Connection connection, int bytes, CompletionFlag flag, int bits, long context) throws RpmaException {
        int at = index(context);
        bare.setInt(at, bits).setInt(at + BYTES, bytes);
        connection.send(region, bare.block().offset + at, ANNOUNCEMENT_BYTES, flag, context);
    }

    @Override
    void received(Sink to, int slot, int bytes, boolean written, boolean hasImmediate, int immediate) {
        if (hasImmediate || written) {
            to.refuse(slot, "a message of " + bytes + " bytes came with immediate data, instead of a prefix of 32 bits");
            return;
        }
        if (bytes < BYTES) {
            to.refuse(slot, "a message has " + bytes + " bytes, which is less than its prefix of 32 bits");
            return;
        }
        // The peer may write to this memory at any time, so each word is read only once.
        ByteBuf message = to.receive(slot);
        int bits = message.getInt(0);
        if (Immediate.kind(bits) != Immediate.BULK) {
            to.take(slot, bytes - BYTES, false, bits);
        } else if (bytes == ANNOUNCEMENT_BYTES) {
            to.take(slot, message.getInt(BYTES), true, bits);
        } else {
            to.refuse(slot, "the announcement of large data has " + bytes + " bytes; it must have " + ANNOUNCEMENT_BYTES);
        }
    }

    @Override
    void close() {
        bare.release();
    }
}
