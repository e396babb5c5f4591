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
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.stream.StreamQueuePair;
import io.rpma.netty.stream.StreamWriter;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The write loop of a stream. It sends the flushed entries in their order: bytes and file regions as messages
 * ({@link StreamWriter}), operations as work requests ({@link PostedEntries}).
 *
 * <p>Used by the event loop of the channel.
 */
final class StreamWriteLoop {
    private static final InliningBarrier WRITE_ENTRIES = new InliningBarrier(MethodHandles.lookup(), StreamWriteLoop.class,
        "writeEntries", MethodType.methodType(void.class, ChannelOutboundBuffer.class, StreamQueuePair.class));

    private final RpmaChannel channel;
    private final AbstractRpmaChannel.ConnectionUnsafe unsafe;
    private final StreamWriter writer = new StreamWriter();
    private final PostedEntries operations = new PostedEntries();

    StreamWriteLoop(RpmaChannel channel, AbstractRpmaChannel.ConnectionUnsafe unsafe) {
        this.channel = channel;
        this.unsafe = unsafe;
    }

    /** Notifies the promises of the operations that have ended. Their listeners may close the channel. */
    void settle() {
        operations.settle();
    }

    /** Fails all operations under way, because the connection has ended. */
    void fail(IOException cause) {
        operations.fail(cause);
    }

    /** Writes the flushed entries, as far as the peer and the device have room for them. */
    void write(ChannelOutboundBuffer in, StreamQueuePair to) throws Exception {
        try {
            WRITE_ENTRIES.method().invokeExact(this, in, to);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    private void writeEntries(ChannelOutboundBuffer in, StreamQueuePair to) throws Exception {
        if (to.broken() != null) {
            // Operations that have ended have causes of their own, which an exception thrown here would replace.
            operations.settle();
            writeAfterTheEnd(in, to);
            return;
        }
        try {
            writeFlushed(in, to);
        } finally {
            to.sender().sendHeld(true);
        }
    }

    private void writeFlushed(ChannelOutboundBuffer in, StreamQueuePair to) throws Exception {
        for (;;) {
            Object msg = in.current();
            if (msg == null) {
                return;
            }
            if (msg instanceof RpmaOperation) {
                to.sender().sendHeld(false);
                if (!writeOperations(in, to)) {
                    return;
                }
                continue;
            }
            if (to.sender().messageLimit() == 0) {
                // Credits or slots are returned with a completion, which calls flush0() again.
                to.sender().stalled();
                return;
            }
            if (msg instanceof ByteBuf buf) {
                writer.write(to.sender(), in, buf);
            } else if (!writeRegion(in, to, (FileRegion) msg)) {
                return;
            }
            if (!channel.open) {
                // A promise's listener has closed the channel.
                return;
            }
        }
    }

    /** Posts the operations at the head of the flushed entries. Returns whether the entries after them can be written now. */
    private boolean writeOperations(ChannelOutboundBuffer in, StreamQueuePair to) {
        operations.write(in, to.sender());
        unsafe.endIfBroken();
        // Later entries continue when the operations have completed, or when there is room for more operations.
        return operations.count() == 0 && channel.open && !(in.current() instanceof RpmaOperation);
    }

    /** Sends a part of a file region. Returns whether there was any data; if not, writing continues later. */
    private boolean writeRegion(ChannelOutboundBuffer in, StreamQueuePair to, FileRegion region) throws Exception {
        if (writer.write(to.sender(), in, region)) {
            return true;
        }
        if (region instanceof DefaultFileRegion file) {
            channel.validate(file);
        }
        unsafe.later(unsafe::flush0);
        return false;
    }

    /**
     * Handles writes after the connection has ended. An exception would close the channel and lose data that the peer sent
     * before and that has not been read. None is therefore thrown before the end of the input has been reached. If the peer has
     * closed in order, writes are meanwhile treated as with TCP, where the kernel accepts what fits into its buffers: as many
     * bytes as the peer's credits allow succeed and are lost, and the rest waits for the end of the input. If the connection
     * has ended otherwise, writes fail.
     */
    private void writeAfterTheEnd(ChannelOutboundBuffer in, StreamQueuePair to) throws IOException {
        boolean inOrder = !to.isAbnormal();
        // Without AUTO_CLOSE an exception loses no input: it only shuts down the output. After a reset, only unread data delays
        // the exception.
        boolean unread = channel.config().isAutoClose() && (inOrder ? unsafe.hasInput() : to.receiver().available() > 0);
        while (channel.open && in.current() instanceof ByteBuf buf) {
            int bytes = buf.readableBytes();
            int taken = bytes > 0 && unread && inOrder ? to.sender().sendToNobody(bytes) : 0;
            if (taken == 0 && bytes > 0) {
                break;
            }
            in.removeBytes(taken);
        }
        if (!channel.open || in.isEmpty()) {
            return;
        }
        IOException cause = new IOException(to.broken().getMessage(), to.broken());
        if (!unread) {
            throw cause;
        }
        if (!inOrder && operations.count() == 0) {
            while (channel.open && in.current() != null) {
                in.remove(cause);
            }
        }
        // This write itself may have found the connection broken.
        unsafe.later(unsafe::readable);
    }
}
