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
import io.netty.buffer.EmptyByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.StringUtil;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.connect.LingeringClose;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.memory.RegisteredCopy;
import io.rpma.netty.pair.ChannelCounts;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.StacklessIOException;
import io.rpma.netty.pair.ThreadBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A channel of messages over RPMA, compatible with C programs that use librpma: one {@link ByteBuf} written is one
 * {@code rpma_send(3)}, and one message received is one {@code channelRead}. This transport adds no framing, no handshake and
 * no flow control, so that any program that uses librpma can be the peer.
 *
 * <p>Messages that can be written: a {@link ByteBuf}; an {@link RpmaMessage}, which carries immediate data; an
 * {@link RpmaOperation}, which accesses the peer's memory. Messages that are read: a {@link ByteBuf}, an {@link RpmaMessage},
 * an {@link RpmaWritten}.
 *
 * <p><b>A promise succeeds when the work request has completed</b>, that is, when the peer's device has acknowledged the
 * message. The bytes of a buffer must not be changed before that. A promise that fails with an {@link RpmaCompletionException}
 * has the status; the connection ends with it. {@link #close()} waits until outstanding messages have been delivered, at most
 * as long as {@code SO_LINGER} allows.
 *
 * <p><b>A message needs a receive that the peer has posted</b>; otherwise it waits, on real devices in steps of 655 ms. A
 * channel posts {@link RpmaChannelOption#RPMA_RECEIVE_BUFFERS} of them, and posts each again when its message has been read. An
 * application that does not read (auto-read off) therefore stops the peer, except with a {@link RpmaSharedReceiveQueue}, which
 * other connections need: the channel is then closed if too many messages are unread. Two programs that must never wait have to
 * agree on how many messages may be under way.
 */
public final class RpmaMessageChannel extends AbstractRpmaChannel {
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", "
        + StringUtil.simpleClassName(RpmaMessage.class) + ", " + StringUtil.simpleClassName(RpmaOperation.class) + ')';

    private static final ByteBuf EMPTY = new EmptyByteBuf(UnpooledByteBufAllocator.DEFAULT);

    private final RpmaMessageChannelConfig config = new RpmaMessageChannelConfig(this, optionOwner());
    private final PostedEntries entries = new PostedEntries();
    private volatile MessageQueuePair pair;

    /** Creates a channel that can be connected. */
    public RpmaMessageChannel() {
        super(null);
    }

    /** Creates the child of a server channel. */
    RpmaMessageChannel(Channel parent, MessageQueuePair pair) {
        super(parent);
        this.pair = pair;
        adopted(pair);
    }

    private MessageUnsafe handle() {
        return (MessageUnsafe) unsafe();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new MessageUnsafe();
    }

    @Override
    public RpmaMessageChannelConfig config() {
        return config;
    }

    @Override
    public RpmaMessageServerChannel parent() {
        return (RpmaMessageServerChannel) super.parent();
    }

    /**
     * Returns the private data that the peer connected or accepted with ({@code rpma_conn_get_private_data(3)}); available from
     * {@code channelActive} on. Devices pad it with zeros, so that its length has no meaning. It is not to be trusted.
     *
     * @return a read-only buffer; empty before the connection is established
     */
    public ByteBuffer peerPrivateData() {
        MessageQueuePair current = pair;
        return current != null ? current.peerData() : ByteBuffer.allocate(0).asReadOnlyBuffer();
    }

    /** Returns the counters of this connection; all 0 while it is not connected. May be called on any thread. */
    public RpmaChannelCounters counters() {
        MessageQueuePair current = pair;
        return new RpmaChannelCounters(current != null ? current.counters() : new ChannelCounts(0));
    }

    @Override
    QueuePair pair() {
        return pair;
    }

    @Override
    List<RpmaPath> paths() {
        return config.messages().paths();
    }

    @Override
    Dialer dialer() {
        return new MessageDialer(config.messages().snapshot());
    }

    @Override
    void dialled(QueuePair connecting) {
        pair = (MessageQueuePair) connecting;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        if (handle().lingers) {
            // The previous event loop uses the connection until everything has been delivered.
            closeFuture().addListener(closed -> promise.setFailure(new ClosedChannelException()));
            return;
        }
        super.doRegister(promise);
    }

    @Override
    protected void doDeregister() {
        super.doDeregister();
        if (open) {
            handle().watchIfLingering();
        }
    }

    @Override
    void end(QueuePair closing, EventLoop loop) {
        // Outstanding messages have been waited for. The remaining memory is released now.
        closing.close();
    }

    // ---- writing ----

    @Override
    protected Object filterOutboundMessage(Object msg) throws Exception {
        switch (msg) {
            case ByteBuf buf -> {
                return registered(buf);
            }
            case RpmaMessage message -> {
                ByteBuf content = message.content();
                ByteBuf registered = registered(content);
                return registered == content ? message : message.replace(registered);
            }
            case RpmaOperation operation -> {
                operation.prepare();
                return operation;
            }
            default -> throw new UnsupportedOperationException(
                "unsupported message type: " + StringUtil.simpleClassName(msg) + EXPECTED_TYPES);
        }
    }

    /** Returns the buffer if the device can access it, or a copy in its place. */
    private static ByteBuf registered(ByteBuf buf) throws RpmaException {
        if (buf == Unpooled.EMPTY_BUFFER) {
            // This instance marks cancelled entries; see PostedEntries.
            return EMPTY;
        }
        if (!buf.isReadable() || RegisteredCopy.isRegistered(buf)) {
            return buf;
        }
        ByteBuf copy = RegisteredCopy.of(buf);
        buf.release();
        return copy;
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        MessageQueuePair to = pair;
        if (to.broken() != null) {
            // An exception would close the channel and lose the messages that have arrived. After they have been read, the
            // channel is closed for the reason for which the connection ended, and the write fails.
            handle().later(handle()::readable);
            return;
        }
        entries.write(in, to);
        handle().endIfBroken();
        // A listener may have closed the channel, and no other entry may be under way.
        handle().endOfLingering();
    }

    /**
     * Closes the channel. Netty calls this method after {@link #doWrite} has thrown an exception, and then fails all writes. A
     * channel of messages has no half-close, and the implementation that is inherited would not notify anybody of the close.
     */
    @Override
    protected void doShutdownOutput() {
        handle().abort();
    }

    /** The unsafe of the channel, which is also its handle on the event loop. */
    private final class MessageUnsafe extends ConnectionUnsafe implements UncheckedBooleanSupplier {
        private boolean endTold;
        // Whether a close has waited for outstanding messages, or still does. The thread that registers the channel reads it.
        private volatile boolean lingers;
        private Runnable closing;
        private Future<?> lingering;
        private boolean aborted;

        // ---- events of the queue pair ----

        @Override
        public void writable() {
            entries.settle();
            if (closing == null && pair.broken() == null) {
                flush0();
            }
            // If the connection is broken, earlier messages are read first: flushing would close the channel immediately.
            endOfLingering();
        }

        @Override
        public void readable() {
            MessageQueuePair current = pair;
            if (connecting.hasFailed()) {
                return;
            }
            if (closing != null) {
                current.receiver().dropShared();
                endOfLingering();
                return;
            }
            if (!isOpen() || endTold) {
                return;
            }
            reads.inputArrived(current.broken() != null);
        }

        // ---- reading ----

        @Override
        public boolean mayRead() {
            return isOpen() && closing == null;
        }

        @Override
        public boolean hasInput() {
            return !endTold && (pair.receiver().unread() > 0 || pair.broken() != null);
        }

        @Override
        public boolean get() {
            return pair.receiver().unread() > 0;
        }

        @Override
        public boolean readArrived(RecvByteBufAllocator.ExtendedHandle handle) throws Exception {
            MessageQueuePair from = pair;
            do {
                if (from.receiver().unread() == 0) {
                    boolean drained = from.broken() != null;
                    handle.lastBytesRead(drained ? -1 : 0);
                    return drained;
                }
                Object message = from.receiver().read(config.getAllocator());
                // One message counts as one byte read, regardless of its length: an empty message is not the end of the input.
                try {
                    handle.attemptedBytesRead(1);
                    handle.lastBytesRead(1);
                    handle.incMessagesRead(1);
                } finally {
                    // Even if a handle of the application throws an exception: nobody else would release the message.
                    reads.served();
                    pipeline().fireChannelRead(message);
                }
            } while (mayRead() && handle.continueReading(this));
            return false;
        }

        @Override
        public void leftUnread(boolean wanted) {
            MessageQueuePair from = pair;
            if (from.broken() != null) {
                return;
            }
            try {
                if (!from.receiver().setAside(config.getAllocator()) && !wanted) {
                    from.breakWith(from.receiver().tooManyUnread());
                }
            } catch (Throwable e) {
                // The allocator of the application has no memory. The other connections need the receives of these messages.
                pipeline().fireExceptionCaught(e);
                close(voidPromise());
                return;
            }
            // The connection is also broken if a receive could not be posted again.
            endIfBroken();
        }

        @Override
        public void turnEnded(boolean drained) {
            if (drained && mayRead()) {
                ended(pair);
            }
        }

        @Override
        public void readFailed(Throwable cause) {
            // A message may be lost. The messages after it would no longer match what the peer has sent.
            close(voidPromise());
        }

        /** Called when everything has been read: closes the channel for the reason for which the connection ended. */
        private void ended(MessageQueuePair from) {
            endTold = true;
            reads.served();
            IOException broken = from.broken();
            entries.settle();
            if (!isOpen()) {
                return;
            }
            if (from.terminal() != ConnectionEvent.CLOSED || !(broken instanceof StacklessIOException)) {
                pipeline().fireExceptionCaught(new IOException(broken.getMessage(), broken));
            }
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(broken);
            // Fails the entries under way after it has destroyed the connection: until then the device may access their memory.
            close(voidPromise(), broken, closed);
        }

        // ---- closing ----

        @Override
        protected Executor prepareToClose() {
            MessageQueuePair current = pair;
            if (aborted || entries.count() == 0 || current == null || current.broken() != null || config.soLinger() == 0) {
                return null;
            }
            return this::linger;
        }

        /** Closes without waiting for outstanding messages: the caller releases their memory afterwards. */
        private void abort() {
            aborted = true;
            close(voidPromise());
        }

        /** Closes when all outstanding messages have been delivered. */
        private void linger(Runnable task) {
            lingers = true;
            closing = task;
            pair.receiver().dropShared();
            if (!eventLoop().isShuttingDown()) {
                // While the loop shuts down no timer can be scheduled; completeClose() and destroy() end the wait instead.
                long millis = config.soLinger() > 0 ? TimeUnit.SECONDS.toMillis(config.soLinger())
                    : LingeringClose.DEFAULT_MILLIS;
                lingering = eventLoop().schedule(this::lingered, millis, TimeUnit.MILLISECONDS);
            }
            watchIfLingering();
        }

        /**
         * Registers only this handle with the event loop if the channel is closing and not registered: otherwise no thread would
         * notice that the messages have been delivered.
         */
        private void watchIfLingering() {
            if (closing == null || registration != null) {
                return;
            }
            ((IoEventLoop) eventLoop()).register(this).addListener(future -> {
                if (!future.isSuccess()) {
                    lingered();
                } else if (closing == null || registration != null) {
                    // Netty defers a listener if its stack is deep. The close has ended meanwhile, or the channel had begun to be
                    // registered before it was closed, and is registered now.
                    ((IoRegistration) future.getNow()).cancel();
                } else {
                    registration = (IoRegistration) future.getNow();
                    registration.submit(RpmaIoOps.OPEN);
                }
            });
        }

        private void stopWatching() {
            if (registration != null && !isRegistered()) {
                registration.submit(RpmaIoOps.CLOSE);
                registration.cancel();
                registration = null;
            }
        }

        private void endOfLingering() {
            if (closing != null) {
                // Complete the entries that succeeded before the connection ended.
                entries.settle();
                if (entries.count() == 0 || pair.broken() != null) {
                    lingered();
                }
            }
        }

        private void lingered() {
            Runnable task = closing;
            if (task == null) {
                return;
            }
            if (eventLoop().isShutdown()) {
                // Netty would fail the rest in a task, which the loop does not accept any more. The device may access the memory
                // of the entries until the connection has been destroyed.
                if (registration != null) {
                    registration.submit(RpmaIoOps.CLOSE);
                }
                pair.close();
                entries.failAll(new ClosedChannelException());
            }
            closing = null;
            if (lingering != null) {
                lingering.cancel(false);
            }
            stopWatching();
            task.run();
        }

        @Override
        public boolean completeClose(boolean late) {
            if (closing != null) {
                pair.drainEvents();
                pair.poll(ThreadBatch.get());
                endOfLingering();
            }
            if (late) {
                lingered();
            }
            return closing == null;
        }

        @Override
        public void destroy() {
            lingered();
            super.destroy();
        }
    }
}
