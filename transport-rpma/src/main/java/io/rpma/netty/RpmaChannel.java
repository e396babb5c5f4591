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
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.UncheckedBooleanSupplier;
import io.netty.util.internal.StringUtil;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.connect.LingeringClose;
import io.rpma.netty.loop.EpollSet;
import io.rpma.netty.pair.ChannelCounts;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.stream.IdleGrants;
import io.rpma.netty.stream.StreamQueuePair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link SocketChannel} over RPMA: an ordered, reliable stream of bytes with half-close, as over TCP. The peer must be a
 * channel of this transport. Connecting and accepting follow {@code rpma_conn_req_new(3)}, {@code rpma_conn_req_connect(3)} and
 * {@code rpma_conn_next_event(3)}; data is sent by {@code rpma_send_with_imm(3)}, or by {@code rpma_send(3)} if the device has
 * no immediate data.
 *
 * <p>A write's promise succeeds when the data has been handed to the device; an orderly {@link #close()} still delivers it.
 * Data that is written after the peer has closed in order, while its last data is still unread, may succeed and be lost, as
 * with TCP. If a peer aborts, dies or violates the protocol, an {@link IOException}, usually with "reset" in its message, is
 * fired before {@code channelInactive}. An application that does not read (auto-read off) stops the peer's writes.
 */
public final class RpmaChannel extends AbstractRpmaChannel implements SocketChannel {
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", "
        + StringUtil.simpleClassName(FileRegion.class) + ", " + StringUtil.simpleClassName(RpmaOperation.class) + ')';

    private final RpmaChannelConfig config = new RpmaChannelConfig(this, optionOwner());
    private final StreamWriteLoop writes = new StreamWriteLoop(this, handle());

    private volatile StreamQueuePair pair;
    private volatile boolean inputShutdown;
    private volatile boolean outputShutdown;

    /** Creates a channel that can be connected. */
    public RpmaChannel() {
        super(null);
    }

    /** Creates the child of a server channel. */
    RpmaChannel(Channel parent, StreamQueuePair pair) {
        super(parent);
        this.pair = pair;
        pair.idleGrants(new IdleGrants(this, pair.sender()));
        adopted(pair);
    }

    private StreamUnsafe handle() {
        return (StreamUnsafe) unsafe();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new StreamUnsafe();
    }

    @Override
    public RpmaChannelConfig config() {
        return config;
    }

    @Override
    public RpmaServerChannel parent() {
        return (RpmaServerChannel) super.parent();
    }

    /**
     * Returns the private data that the peer's application connected or accepted with ({@code rpma_conn_get_private_data(3)}),
     * without the part that belongs to the stream protocol; available from {@code channelActive} on. It is not to be trusted.
     *
     * @return a read-only buffer; empty if the peer sent none, or before the connection is established
     */
    public ByteBuffer peerPrivateData() {
        StreamQueuePair current = pair;
        return current != null ? current.peerData() : ByteBuffer.allocate(0).asReadOnlyBuffer();
    }

    /** Returns the counters of this connection; all 0 while it is not connected. May be called on any thread. */
    public RpmaChannelCounters counters() {
        StreamQueuePair current = pair;
        return new RpmaChannelCounters(current != null ? current.counters() : new ChannelCounts(0));
    }

    @Override
    QueuePair pair() {
        return pair;
    }

    /** Returns the loop for which the connection was made, or {@code null} if it was not made for a certain loop. */
    IoEventLoop home() {
        StreamQueuePair current = pair;
        return current == null ? null : current.home();
    }

    @Override
    List<RpmaPath> paths() {
        return config.stream().paths();
    }

    @Override
    Dialer dialer() {
        StreamOptions options = config.stream();
        return new StreamDialer(options.messageBytes(), options.credits(), options.shared(), options.bulkBytes(),
            options.privateData(), eventLoop());
    }

    @Override
    void dialled(QueuePair connecting) {
        pair = (StreamQueuePair) connecting;
        pair.idleGrants(new IdleGrants(this, pair.sender()));
    }

    @Override
    void end(QueuePair closing, EventLoop loop) {
        int linger = config.getSoLinger();
        if (linger == 0) {
            LingeringClose.abort(closing, loop);
        } else {
            LingeringClose.close(closing, loop,
                linger > 0 ? TimeUnit.SECONDS.toMillis(linger) : LingeringClose.DEFAULT_MILLIS);
        }
    }

    @Override
    protected void doClose() throws Exception {
        inputShutdown = true;
        outputShutdown = true;
        super.doClose();
    }

    // ---- writing ----

    @Override
    protected Object filterOutboundMessage(Object msg) throws Exception {
        if (msg instanceof ByteBuf || msg instanceof FileRegion) {
            return msg;
        }
        if (msg instanceof RpmaOperation operation) {
            if (operation.takesReceive()) {
                throw new UnsupportedOperationException("a write with immediate data needs an RpmaMessageChannel: on a stream,"
                    + " the immediate data belongs to the stream protocol");
            }
            operation.prepare();
            return operation;
        }
        throw new UnsupportedOperationException(
            "unsupported message type: " + StringUtil.simpleClassName(msg) + EXPECTED_TYPES);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        StreamQueuePair to = pair;
        if (handle().isBehind()) {
            handle().catchUp();
        }
        writes.write(in, to);
    }

    /** Checks a file region that has no more data, although its count says so. */
    void validate(DefaultFileRegion region) throws IOException {
        validateFileRegion(region, region.transferred());
    }

    // ---- shutting down ----

    @Override
    protected void doShutdownOutput() throws Exception {
        outputShutdown = true;
        pair.finish();
        handle().endIfBroken();
    }

    @Override
    public boolean isInputShutdown() {
        return inputShutdown;
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShutdown;
    }

    @Override
    public boolean isShutdown() {
        return inputShutdown && outputShutdown;
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        onLoop(() -> {
            if (open && !active) {
                // Netty would take the outbound buffer away before it calls doShutdownOutput(), and the channel, which may be
                // connecting, could never write.
                promise.tryFailure(new NotYetConnectedException());
            } else {
                handle().shutdownOutput(promise);
            }
        });
        return promise;
    }

    /** The data that arrives afterwards is dropped, also if no read is requested, so that the peer can continue to write. */
    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        onLoop(() -> {
            if (!promise.setUncancellable()) {
                // It was cancelled before this loop had time for it.
                return;
            }
            if (!open) {
                promise.setFailure(new ClosedChannelException());
            } else if (!active) {
                promise.setFailure(new NotYetConnectedException());
            } else {
                inputShutdown = true;
                handle().reads.dropInput();
                promise.setSuccess();
                handle().later(handle()::inputIsComplete);
            }
        });
        return promise;
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        if (!promise.setUncancellable()) {
            return promise;
        }
        shutdownOutput().addListener(output -> shutdownInput().addListener(input -> {
            Throwable cause = output.cause() != null ? output.cause() : input.cause();
            if (cause == null) {
                promise.setSuccess();
            } else {
                if (output.cause() != null && input.cause() != null) {
                    cause.addSuppressed(input.cause());
                }
                promise.setFailure(cause);
            }
        }));
        return promise;
    }

    private void onLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    /** The unsafe of the channel, which is also its handle on the event loop. */
    private final class StreamUnsafe extends ConnectionUnsafe implements UncheckedBooleanSupplier {
        private boolean catchingUp;
        private boolean inputShutdownComplete;
        private boolean completeFired;

        @Override
        public void writable() {
            writes.settle();
            flush0();
        }

        private boolean isBehind() {
            return registration != null && registration.<EpollSet>attachment().isBehind();
        }

        /** Checks, before promises succeed, whether the peer has gone meanwhile. Events of the pipeline are fired later. */
        private void catchUp() {
            catchingUp = true;
            try {
                pair.drainEvents();
            } finally {
                catchingUp = false;
            }
        }

        @Override
        public void readable() {
            if (catchingUp) {
                later(this::readable);
                return;
            }
            StreamQueuePair current = pair;
            if (connecting.hasFailed() || !open) {
                return;
            }
            if (inputShutdownComplete) {
                if (current.isAbnormal()) {
                    closeBroken(current);
                } else {
                    peerGone(current);
                }
                return;
            }
            if (current.receiver().takeStarved()) {
                pipeline().fireUserEventTriggered(RpmaReceiveStarvation.INSTANCE);
                if (!open) {
                    return;
                }
            }
            reads.inputArrived(current.receiver().isEndOfStream() || current.broken() != null);
        }

        // ---- reading ----

        @Override
        public boolean mayRead() {
            return open;
        }

        @Override
        public boolean hasInput() {
            if (inputShutdownComplete) {
                return false;
            }
            StreamQueuePair from = pair;
            return from.receiver().available() > 0 || from.receiver().isEndOfStream() || from.broken() != null;
        }

        /** Returns whether more can be read immediately; called by {@link RecvByteBufAllocator.ExtendedHandle}. */
        @Override
        public boolean get() {
            return pair.receiver().available() > 0;
        }

        @Override
        public boolean readArrived(RecvByteBufAllocator.ExtendedHandle handle) throws Exception {
            StreamQueuePair from = pair;
            // The size that an adaptive handle expects is only an estimate.
            boolean whole = config.getRecvByteBufAllocator() instanceof AdaptiveRecvByteBufAllocator;
            do {
                if (from.receiver().available() == 0) {
                    return nothingArrived(from, handle);
                }
                if (inputShutdown) {
                    // The user has shut down the input: further data is dropped, and the peer may continue to send.
                    from.receiver().skip();
                    continue;
                }
                ByteBuf buf = from.receiver().read(handle, config.getAllocator(), whole);
                try {
                    handle.lastBytesRead(buf.readableBytes());
                    handle.incMessagesRead(1);
                } finally {
                    // Even if a handle of the application throws an exception: the stream continues, and needs these bytes.
                    reads.served();
                    pipeline().fireChannelRead(buf);
                }
            } while (open && handle.continueReading(this));
            return false;
        }

        /** Returns whether the input has ended. */
        private boolean nothingArrived(StreamQueuePair from, RecvByteBufAllocator.ExtendedHandle handle) {
            boolean drained = from.receiver().isEndOfStream() || from.broken() != null;
            handle.lastBytesRead(drained ? -1 : 0);
            if (drained) {
                reads.served();
            }
            return drained;
        }

        @Override
        public void turnEnded(boolean drained) throws Exception {
            if (open) {
                StreamQueuePair from = pair;
                from.receiver().returnCredits();
                if (drained) {
                    inputEnded(from);
                }
            }
        }

        @Override
        public void readFailed(Throwable cause) {
            if (cause instanceof OutOfMemoryError || cause instanceof IOException) {
                close(voidPromise());
            }
        }

        /** Called when everything has been read: ends the input in the same way as the stream ended. */
        private void inputEnded(StreamQueuePair from) {
            if (from.isAbnormal()) {
                inputShutdownComplete = true;
                closeBroken(from);
                return;
            }
            if (!inputShutdown) {
                if (!config.isAllowHalfClosure()) {
                    close(voidPromise());
                    return;
                }
                inputShutdown = true;
                pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
            if (!inputShutdownComplete) {
                inputShutdownComplete = true;
                inputIsComplete();
            }
            peerGone(from);
        }

        /** Notifies the pipeline, once, that nothing will be read any more, because either end has ended the input. */
        private void inputIsComplete() {
            if (open && !completeFired && config.isAllowHalfClosure()) {
                completeFired = true;
                pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
            }
        }

        // ---- the end ----

        /**
         * Handles a disconnect of a peer that has ended its stream in order. It is reported only if something is written, or
         * waits to be sent.
         */
        private void peerGone(StreamQueuePair from) {
            if (open && from.broken() != null) {
                writable();
            }
        }

        private void closeBroken(StreamQueuePair from) {
            writes.settle();
            writes.fail(from.broken());
            pipeline().fireExceptionCaught(new IOException(from.broken().getMessage(), from.broken()));
            close(voidPromise());
        }
    }
}
