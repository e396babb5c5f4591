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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rpma.CompletionOpcode;
import io.rpma.WorkCompletions;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.pair.ChannelCounts;
import java.io.IOException;
import java.util.function.IntConsumer;

/**
 * Reads the messages of a connection that have arrived. A message keeps its receive until it is read. If the receives are
 * shared, messages that are not read immediately are set aside in buffers of their own, so that other connections can receive.
 * The number of these messages is limited. If the application reads slowly, further ones then keep their receives, which stops
 * the peers of all connections. If it does not want to read at all, the connection has to end.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class MessageReceiver {
    private static final byte PLAIN = 0;
    private static final byte WITH_IMMEDIATE = 1;
    private static final byte WRITTEN = 2;

    private final MessageReceives receives;
    private final MessageSizes sizes;
    private final ChannelCounts counters;
    private final IntConsumer repost;
    private final ArrivedMessages arrived = new ArrivedMessages();
    private boolean dropped;

    /**
     * Creates a receiver without messages.
     *
     * @param repost posts the receive in a slot again
     */
    MessageReceiver(MessageReceives receives, MessageSizes sizes, ChannelCounts counters, IntConsumer repost) {
        this.receives = receives;
        this.sizes = sizes;
        this.counters = counters;
        this.repost = repost;
    }

    /** Called when a message has arrived in the receive of a slot. */
    void arrived(int slot, WorkCompletions batch, int index) {
        boolean immediate = batch.hasImmediate(index);
        byte kind = !immediate ? PLAIN
            : batch.opcode(index) == CompletionOpcode.RECV_RDMA_WITH_IMM ? WRITTEN : WITH_IMMEDIATE;
        arrived.add(slot, batch.byteLength(index), immediate ? batch.immediate(index) : 0, kind);
        counters.messagesReceived++;
        counters.bytesReceived += batch.byteLength(index);
        counters.unread(arrived.count());
    }

    /** Returns how many messages have arrived and have not been read. */
    int unread() {
        return arrived.count();
    }

    /**
     * Reads the oldest message; there must be one. If it fills at least half of its buffer, the buffer is passed on without
     * copying and replaced by another one; a shorter message is copied.
     */
    Object read(ByteBufAllocator allocator) {
        int slot = arrived.slot(0);
        int bytes = arrived.bytes(0);
        byte kind = arrived.kind(0);
        int immediate = arrived.immediate();
        boolean holdsReceive = arrived.aside() == 0;
        ByteBuf content = arrived.remove();
        try {
            if (kind == WRITTEN) {
                return new RpmaWritten(immediate, bytes);
            }
            if (holdsReceive) {
                content = content(slot, bytes, allocator);
            }
            return kind == PLAIN ? content : new RpmaMessage(content, immediate);
        } finally {
            if (holdsReceive) {
                repost.accept(slot);
            }
        }
    }

    private ByteBuf content(int slot, int bytes, ByteBufAllocator allocator) {
        if (bytes == 0) {
            return Unpooled.EMPTY_BUFFER;
        }
        RpmaByteBuf source = receives.buffer(slot);
        if (bytes >= sizes.receiveBytes() + 1 >>> 1 && receives.replace(slot)) {
            counters.receiveCopiesAvoided++;
            return source.writerIndex(bytes);
        }
        counters.receiveCopiesMade++;
        ByteBuf copy = allocator.ioBuffer(bytes);
        try {
            return copy.writeBytes(source, 0, bytes);
        } catch (Throwable e) {
            // The allocator belongs to the application, and its buffer may be too small.
            copy.release();
            throw e;
        }
    }

    /**
     * Sets the messages that have not been read aside, if their receives are shared.
     *
     * @return whether none of the messages holds a receive that other connections need; if not, more messages are unread than the
     *     shared queue has receives
     */
    boolean setAside(ByteBufAllocator allocator) {
        return !receives.areShared() || setAside(allocator, sizes.shared().receives());
    }

    /** Sets all messages aside, also those beyond the limit: the connection has ended, and nothing will follow. */
    void setAllAside(ByteBufAllocator allocator) {
        setAside(allocator, Integer.MAX_VALUE);
    }

    private boolean setAside(ByteBufAllocator allocator, int most) {
        for (int next = arrived.aside(); next < arrived.count(); next++) {
            if (next >= most) {
                return false;
            }
            int slot = arrived.slot(next);
            arrived.setAside(arrived.kind(next) == WRITTEN ? null : content(slot, arrived.bytes(next), allocator));
            repost.accept(slot);
        }
        return true;
    }

    /** Returns the reason for which a connection must end that the application does not read. */
    IOException tooManyUnread() {
        return new IOException(arrived.aside() + " messages are unread, as many as there are buffers in the " + sizes.shared()
            + ", and another one has arrived: read them sooner, let the peer wait for answers, or share more receives"
            + " (RPMA_RECEIVE_QUEUE)");
    }

    /** Drops the unread messages, which nobody will read, if their receives are shared: other connections need these. */
    void dropShared() {
        if (receives.areShared()) {
            dropped |= arrived.count() > 0;
            drop(true);
        }
    }

    /** Drops the unread messages when the connection has ended, and leaves their receives as they are. */
    void forget() {
        drop(false);
    }

    private void drop(boolean repostReceives) {
        while (arrived.count() > 0) {
            int slot = arrived.slot(0);
            boolean holdsReceive = arrived.aside() == 0;
            ByteBuf content = arrived.remove();
            if (content != null) {
                content.release();
            }
            if (holdsReceive && repostReceives) {
                repost.accept(slot);
            }
        }
    }

    /** Returns whether messages have been dropped. */
    boolean hasDropped() {
        return dropped;
    }
}
