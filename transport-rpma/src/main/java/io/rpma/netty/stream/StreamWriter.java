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
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import io.netty.util.internal.PlatformDependent;
import io.rpma.NativeMemory;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.memory.Slab;
import io.rpma.netty.memory.SoleHolder;
import io.rpma.netty.pair.SentEntries;
import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Turns the flushed entries of a channel into the messages of a stream. A large buffer in registered memory is sent from where it
 * lies; shorter ones are copied, several of them into one message.
 *
 * <p>Used by the event loop of the channel.
 */
public final class StreamWriter {
    /** Shorter buffers are copied into a message, together with other flushed data. */
    private static final int IN_PLACE_BYTES = 4096;

    /** A message of at least this size may be held back until the application has written more. */
    private static final int HELD_BYTES = 16 << 10;

    private static final InliningBarrier WRITE_COPIED = new InliningBarrier(MethodHandles.lookup(), StreamWriter.class,
        "writeCopied", MethodType.methodType(void.class, StreamSender.class, ChannelOutboundBuffer.class, int.class));

    private final Gatherer gatherer = new Gatherer();
    private final Follower follower = new Follower();
    // The buffer at the head of the flushed entries if a part of it has been sent without copying.
    private ByteBuf partlySent;

    /**
     * Returns the slab of a buffer that can be sent without copying, or {@code null}. The buffer must be large enough for a
     * message of its own, and its memory must not be referenced by anyone else, who could write to it as soon as the promise
     * has succeeded. Nor may a prefix be needed, because the transport must not write to the memory in front of the data.
     *
     * @param begun whether the buffer has been sent in part
     */
    private static Slab inPlace(StreamSender to, ByteBuf buf, boolean begun) {
        int bytes = buf.readableBytes();
        return (begun || bytes >= IN_PLACE_BYTES && SoleHolder.of(buf)) && !to.isPrefixNeeded(bytes)
            ? RegisteredMemory.slab(buf.memoryAddress()) : null;
    }

    /** Sends the first of the flushed buffers, as far as a message can hold it, with the buffers after it if they are copied. */
    public void write(StreamSender to, ChannelOutboundBuffer in, ByteBuf buf) throws Exception {
        Slab slab = inPlace(to, buf, buf == partlySent);
        if (slab != null) {
            writeInPlace(to, in, buf, slab);
        } else {
            writeBehindBarrier(to, in, buf.readableBytes());
        }
    }

    private void writeBehindBarrier(StreamSender to, ChannelOutboundBuffer in, int together) {
        try {
            WRITE_COPIED.method().invokeExact(this, to, in, together);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    private void writeInPlace(StreamSender to, ChannelOutboundBuffer in, ByteBuf buf, Slab slab) throws Exception {
        int together = buf.readableBytes();
        int bytes = Math.min(to.messageLimit(together), together);
        boolean whole = bytes == together;
        boolean last = whole && (in.size() == 1 || !follower.isFoundAfterFirst(in));
        // Only the messages under way hold the buffer now, so the rest of it may be sent without copying as well.
        partlySent = whole ? null : buf;
        to.counters().sendCopiesAvoided++;
        to.send(buf.retain(), slab, buf.memoryAddress() + buf.readerIndex() - slab.address(), bytes, together, last);
        SentEntries.removeBytes(in, bytes);
    }

    /**
     * Copies as many of the flushed buffers into a message as it holds, and sends it. If the message is not full and the removal
     * of the entries may cause the application to write more, the message is held back until then, because two messages that are
     * half full cost twice as much as a full one.
     *
     * @param together the number of bytes of the first buffer
     */
    private void writeCopied(StreamSender to, ChannelOutboundBuffer in, int together) throws Exception {
        RpmaByteBuf message = to.takeHeld();
        long longest = together;
        if (message != null) {
            longest = Math.max(together, to.heldTogether());
        } else {
            long pending = Math.max(1, in.totalPendingWriteBytes());
            long wanted = Math.min(to.messageLimit(together), pending);
            // Leave room for what the application may write while the message is held back.
            message = message(to, pending >= HELD_BYTES && !in.isWritable() ? Math.max(wanted, to.messageLimit()) : wanted);
        }
        int before = message.readableBytes();
        boolean more;
        try {
            gatherer.message = message;
            gatherer.to = to;
            gatherer.more = false;
            gatherer.beforeOther = false;
            in.forEachFlushedMessage(gatherer);
            more = gatherer.more || gatherer.beforeOther && follower.isFoundAfterBuffers(in);
        } catch (Throwable e) {
            message.writerIndex(message.readerIndex() + before);
            if (before > 0) {
                to.hold(message, longest);
            } else {
                message.release();
            }
            throw e;
        } finally {
            gatherer.message = null;
            gatherer.to = null;
        }
        int bytes = message.readableBytes() - before;
        if (bytes >= together) {
            // The same object may come again, with other data and with others that hold it.
            partlySent = null;
        }
        if (before + bytes == 0) {
            message.release();
        } else {
            if (before == 0) {
                to.counters().sendCopiesMade++;
            }
            if (!more && before + bytes >= HELD_BYTES && message.isWritable() && !in.isWritable() && canHold(to, message)) {
                to.hold(message, longest);
            } else {
                // Send before the promises succeed: their listeners may close the channel, and the data must be under way then.
                send(to, message, longest, !more);
            }
        }
        SentEntries.removeBytes(in, bytes);
    }

    /** Returns whether a message can be held back: it fits into a receive, and another one can be sent, too. */
    private static boolean canHold(StreamSender to, RpmaByteBuf message) {
        return message.readerIndex() == to.prefix() && message.readableBytes() + message.writableBytes() <= to.messageLimit()
            && to.credits() > 1;
    }

    /** Sends a part of a file region, which is the first of the flushed entries. Returns whether there was any data. */
    public boolean write(StreamSender to, ChannelOutboundBuffer in, FileRegion region) throws Exception {
        long position = region.transferred();
        long remaining = region.count() - position;
        if (remaining <= 0) {
            SentEntries.remove(in);
            return true;
        }
        RpmaByteBuf message = message(to, Math.min(to.messageLimit(remaining), remaining));
        long n;
        try {
            n = region.transferTo(new MessageSink(message), position);
        } catch (Throwable e) {
            message.release();
            throw e;
        }
        int bytes = message.readableBytes();
        if (bytes == 0) {
            message.release();
            if (n < 0) {
                throw new EOFException("the file region ended after " + position + " of " + region.count() + " bytes");
            }
            return false;
        }
        boolean done = region.transferred() >= region.count();
        send(to, message, remaining, done);
        in.progress(bytes);
        if (done && in.current() == region) {
            SentEntries.remove(in);
        }
        return true;
    }

    private static void send(StreamSender to, RpmaByteBuf message, long together, boolean last) throws IOException {
        int bytes = message.readableBytes();
        if (message.readerIndex() < to.prefix() && bytes <= to.messageLimit()) {
            // There was less data than expected when the message was allocated for an area; move it behind a prefix.
            NativeMemory.copy(message.memoryAddress(), message.memoryAddress() + to.prefix(), bytes);
            message.setIndex(to.prefix(), to.prefix() + bytes);
        }
        to.send(message, message.slab(), message.block().offset + message.readerIndex(), bytes, together, last);
    }

    /**
     * Allocates registered memory for a message of this many bytes, at most as many as the peer accepts, or for fewer bytes if
     * no single block is large enough. The prefix is left free in front of them; data that is written into an area has none.
     */
    private static RpmaByteBuf message(StreamSender to, long wanted) throws IOException {
        int prefix = wanted > to.messageLimit() ? 0 : to.prefix();
        int bytes = (int) wanted;
        RpmaByteBuf message = RegisteredMemory.registered(prefix + bytes, prefix + bytes);
        while (message == null && bytes > IN_PLACE_BYTES) {
            int block = Integer.highestOneBit(prefix + bytes - 1);
            prefix = to.prefix();
            bytes = Math.min(block - prefix, to.messageLimit());
            message = RegisteredMemory.registered(prefix + bytes, prefix + bytes);
        }
        if (message == null) {
            throw new IOException("no registered memory is left for a message of " + bytes + " bytes: "
                + RegisteredMemory.registeredBytes()
                + " bytes are registered; -Dio.rpma.netty.maxRegisteredBytes sets the limit");
        }
        message.setIndex(prefix, prefix);
        return message;
    }

    /** Copies flushed buffers into a message until it is full. */
    private static final class Gatherer implements ChannelOutboundBuffer.MessageProcessor {
        private static final InliningBarrier COPY = new InliningBarrier(MethodHandles.lookup(), RpmaByteBuf.class, "writeBytes",
            MethodType.methodType(ByteBuf.class, ByteBuf.class, int.class, int.class));

        StreamSender to;
        RpmaByteBuf message;
        // Whether a buffer has more bytes than the message has room for.
        boolean more;
        // Whether an entry of another kind follows the buffers.
        boolean beforeOther;

        @Override
        public boolean processMessage(Object msg) {
            if (!(msg instanceof ByteBuf buf)) {
                beforeOther = true;
                return false;
            }
            int bytes = buf.readableBytes();
            int room = message.writableBytes();
            if (room == 0 && bytes > 0 || message.isReadable() && inPlace(to, buf, false) != null) {
                more = true;
                return false;
            }
            copy(buf, Math.min(bytes, room));
            more = bytes > room;
            return !more;
        }

        private void copy(ByteBuf from, int bytes) {
            try {
                ByteBuf ignored = (ByteBuf) COPY.method().invokeExact(message, from, from.readerIndex(), bytes);
            } catch (Throwable e) {
                PlatformDependent.throwException(e);
            }
        }
    }

    /**
     * Searches the flushed entries for one that causes another message. Their number is no indication, because some of them may
     * be empty or cancelled. Those are removed before the next search, so no entry is searched twice. It is a class of its own
     * so that the compiled code of {@link Gatherer}, which every small message executes, stays small.
     */
    private static final class Follower implements ChannelOutboundBuffer.MessageProcessor {
        private boolean skipsFirst;
        private boolean skipsBuffers;
        private boolean found;

        /** Returns whether an entry after the first one causes a message. */
        boolean isFoundAfterFirst(ChannelOutboundBuffer in) throws Exception {
            skipsFirst = true;
            skipsBuffers = false;
            return search(in);
        }

        /** Returns whether an entry after the buffers at the head, all of which have been copied, causes a message. */
        boolean isFoundAfterBuffers(ChannelOutboundBuffer in) throws Exception {
            skipsFirst = false;
            skipsBuffers = true;
            return search(in);
        }

        private boolean search(ChannelOutboundBuffer in) throws Exception {
            found = false;
            in.forEachFlushedMessage(this);
            return found;
        }

        @Override
        public boolean processMessage(Object msg) {
            if (skipsFirst || skipsBuffers && msg instanceof ByteBuf) {
                skipsFirst = false;
                return true;
            }
            skipsBuffers = false;
            if (msg instanceof ByteBuf buf) {
                found = buf.isReadable();
                return !found;
            }
            if (msg instanceof FileRegion region) {
                found = region.transferred() < region.count();
                return !found;
            }
            // Entries after an operation wait for it, and nothing is posted for an operation that is refused.
            return false;
        }
    }
}
