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
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelProgressivePromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Reads and writes any number of bytes of the peer's memory, on a channel of either kind: more than one work request can carry,
 * and without filling the channel's outbound buffer. A transfer is split into {@link RpmaOperation}s, which are written to the
 * channel in the order of their offsets. The number of operations under way at any time is bounded; when one completes, the
 * next is written. Other messages and operations can therefore be sent in between.
 *
 * <p>The future of a transfer is done when none of its operations is under way any more; the memory on this side may then be
 * used for something else. It succeeds if all operations have succeeded. It fails with an {@link RpmaException}, before
 * anything is moved, if the transfer as a whole is refused (bounds on either side, usages), with an
 * {@link IllegalArgumentException} if the channel has never had a connection, and with an {@link IllegalStateException} or a
 * {@link RejectedExecutionException} if it has no event loop. Otherwise it fails once, with an {@link RpmaTransferException} that
 * says how far the transfer has come. It reports its progress to
 * {@link io.netty.channel.ChannelProgressiveFutureListener}s.
 *
 * <p>A transfer cannot be cancelled. Closing the channel ends it: the operations that have been posted are completed, and no
 * others are. The future fails when the device has completed them or the connection has ended, which {@code SO_LINGER} limits
 * to 5 seconds by default, and to one second if it is 0. If only the output of an {@link RpmaChannel} is shut down, nothing
 * limits this time, since the connection continues.
 *
 * <p>A message that is written to the channel while a transfer is under way may overtake those operations of the transfer that
 * have not been written yet. What has to follow the transfer, such as a flush or a message that notifies the peer, must be
 * written after the future has succeeded.
 *
 * <p>Thread-safe and reusable; several transfers on one channel run concurrently.
 */
public final class RpmaTransfer {
    /** The default size of an operation in bytes: 1 MiB. */
    public static final int DEFAULT_OPERATION_BYTES = 1 << 20;
    /** The default number of operations under way: 8. */
    public static final int DEFAULT_OPERATIONS = 8;

    private final Channel channel;
    private final int operationBytes;
    private final int operations;

    /**
     * Creates transfers with operations of {@value #DEFAULT_OPERATION_BYTES} bytes, {@value #DEFAULT_OPERATIONS} of which are
     * under way at once.
     *
     * @param channel an {@link RpmaChannel} or {@link RpmaMessageChannel}
     */
    public RpmaTransfer(Channel channel) {
        this(channel, DEFAULT_OPERATION_BYTES, DEFAULT_OPERATIONS);
    }

    /**
     * Creates transfers.
     *
     * @param channel an {@link RpmaChannel} or {@link RpmaMessageChannel}
     * @param operationBytes the largest number of bytes that an operation moves; at most what the device moves at once
     *     ({@link io.rpma.DeviceLimits#maxMessageSize()}), and at most 4 MiB if a buffer is transferred
     * @param operations how many operations of one transfer may be in the channel's outbound buffer, written but not completed
     * @throws IllegalArgumentException if the channel is of another transport, or a number is not positive
     */
    public RpmaTransfer(Channel channel, int operationBytes, int operations) {
        if (!(channel instanceof AbstractRpmaChannel)) {
            throw new IllegalArgumentException("a connected channel of this transport is needed, not " + channel);
        }
        if (operationBytes < 1) {
            throw new IllegalArgumentException("an operation of " + operationBytes + " bytes: at least 1 is needed");
        }
        if (operations < 1) {
            throw new IllegalArgumentException(operations + " operations in flight: at least 1 is needed");
        }
        this.channel = channel;
        this.operationBytes = operationBytes;
        this.operations = operations;
    }

    /**
     * Reads from the peer's memory into a region, by {@link RpmaOperation#read(RpmaRemoteRegion, long, long, RpmaRegion, long)}.
     *
     * @param source a region that the peer registered for {@link MemoryUsage#READ_SRC}
     * @param sourceOffset the offset in bytes
     * @param length the length in bytes
     * @param target registered for {@link MemoryUsage#READ_DST}; retained until the future is done
     * @param targetOffset the offset in bytes
     * @return the future, whose listeners are notified on the channel's event loop
     */
    public ChannelProgressiveFuture read(RpmaRemoteRegion source, long sourceOffset, long length, RpmaRegion target,
            long targetOffset) {
        return start(RpmaOperation.read(source, sourceOffset, length, target, targetOffset));
    }

    /**
     * Reads from the peer's memory into a buffer, by {@link RpmaOperation#read(RpmaRemoteRegion, long, int, ByteBuf)}. The
     * bytes are stored at the writer index, which advances when the future succeeds.
     *
     * @param source a region that the peer registered for {@link MemoryUsage#READ_SRC}
     * @param sourceOffset the offset in bytes
     * @param length in bytes; the buffer must have at least as many writable bytes
     * @param target any buffer, which must not be touched before the future is done; the transfer retains it
     * @return the future, whose listeners are notified on the channel's event loop
     */
    public ChannelProgressiveFuture read(RpmaRemoteRegion source, long sourceOffset, int length, ByteBuf target) {
        return start(RpmaOperation.read(source, sourceOffset, length, target));
    }

    /**
     * Writes from a region to the peer's memory, by {@link RpmaOperation#write(RpmaRegion, long, long, RpmaRemoteRegion, long)}.
     *
     * @param source registered for {@link MemoryUsage#WRITE_SRC}; its bytes must not be changed before the future is done
     * @param sourceOffset the offset in bytes
     * @param length the length in bytes
     * @param target a region that the peer registered for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset the offset in bytes
     * @return the future, whose listeners are notified on the channel's event loop
     */
    public ChannelProgressiveFuture write(RpmaRegion source, long sourceOffset, long length, RpmaRemoteRegion target,
            long targetOffset) {
        return start(RpmaOperation.write(source, sourceOffset, length, target, targetOffset));
    }

    /**
     * Writes a buffer's readable bytes to the peer's memory, by {@link RpmaOperation#write(ByteBuf, RpmaRemoteRegion, long)}.
     *
     * @param source any buffer; the transfer takes over its reference, as every write of a buffer does, and its readable bytes
     *     must not change any more
     * @param target a region that the peer registered for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset the offset in bytes
     * @return the future, whose listeners are notified on the channel's event loop
     */
    public ChannelProgressiveFuture write(ByteBuf source, RpmaRemoteRegion target, long targetOffset) {
        return start(RpmaOperation.write(source, target, targetOffset));
    }

    private ChannelProgressiveFuture start(RpmaOperation whole) {
        EventLoop loop;
        try {
            loop = channel.eventLoop();
        } catch (IllegalStateException e) {
            // The channel was never registered, so no event loop could notify the listeners of a promise of the channel.
            whole.release();
            return new DefaultChannelProgressivePromise(channel, GlobalEventExecutor.INSTANCE).setFailure(e);
        }
        ChannelProgressivePromise promise = channel.newProgressivePromise();
        promise.setUncancellable();
        Running running = new Running(whole, promise, loop);
        if (loop.inEventLoop()) {
            running.start();
            return promise;
        }
        try {
            loop.execute(running::start);
        } catch (RejectedExecutionException e) {
            whole.release();
            promise.setFailure(e);
        }
        return promise;
    }

    /** Returns the largest number of bytes of an operation, given what the device moves at once. */
    static long largest(int operationBytes, boolean isOfBuffer, long deviceBytes) {
        long most = Math.min(operationBytes, deviceBytes);
        return isOfBuffer ? Math.min(most, RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY) : most;
    }

    /**
     * One transfer. All methods are called on the event loop on which it began, or by Netty's global executor after that loop
     * has ended; only {@link #released()} and {@link #onLoop} are called by any thread.
     */
    private final class Running {
        /**
         * The transfer as one operation: it is checked as a whole, and the operations are parts of it. It retains the regions
         * and the buffer.
         */
        private final RpmaOperation whole;
        private final ChannelProgressivePromise promise;
        /** The loop of the channel when the transfer began. The channel may move to another one; the transfer does not. */
        private final EventLoop loop;
        private final Runnable whenReleased = this::released;
        private long most;
        private long written;
        private long completed;
        /** The number of operations whose promises are not done. */
        private int underWay;
        /** The number of operations that the channel or the device uses. It may be greater: a closed channel fails promises. */
        private int inUse;
        private boolean isWriting;
        private RpmaTransferException failure;

        Running(RpmaOperation whole, ChannelProgressivePromise promise, EventLoop loop) {
            this.whole = whole;
            this.promise = promise;
            this.loop = loop;
        }

        void start() {
            try {
                whole.check();
                most = largest(operationBytes, whole.movesBuffer(), ChannelFabric.of(channel).limits().maxMessageSize());
            } catch (Throwable e) {
                // A buffer of the application may throw an error as well, and nobody else would end the transfer.
                whole.release();
                promise.setFailure(e);
                return;
            }
            if (whole.length() == 0) {
                // An empty transfer is written as well, so that it completes in the order of the pipeline.
                write(0);
                channel.flush();
            } else {
                writeMore();
            }
        }

        private void writeMore() {
            if (isWriting) {
                // A write failed immediately, inside the loop below; that loop continues or ends.
                return;
            }
            isWriting = true;
            boolean any = false;
            while (failure == null && written < whole.length() && underWay < operations) {
                write(Math.min(most, whole.length() - written));
                any = true;
            }
            isWriting = false;
            if (any) {
                channel.flush();
            }
            endIfDone();
        }

        private void write(long bytes) {
            long from = written;
            written += bytes;
            underWay++;
            RpmaOperation part;
            try {
                part = whole.part(from, bytes, whenReleased);
            } catch (Throwable e) {
                // The application has released the buffer too early, or the buffer is of a class of the application and throws
                // an error.
                completed(from, bytes, e);
                return;
            }
            inUse++;
            // The executor of this promise is the loop that the channel has at the end. The loop on which the operation is
            // written may have ended by then, and would notify nobody.
            ChannelPromise end = channel.newPromise();
            channel.write(part, end).addListener((ChannelFuture future) -> {
                if (loop.inEventLoop()) {
                    completed(from, bytes, future.cause());
                } else {
                    onLoop(() -> completed(from, bytes, future.cause()));
                }
            });
        }

        /**
         * Runs a task later. A loop that ends accepts no tasks any more, but still runs those that it has accepted. Its own
         * thread then runs the task immediately; for other threads it runs when the loop has ended, so that only one thread
         * counts.
         */
        private void onLoop(Runnable task) {
            try {
                loop.execute(task);
            } catch (RejectedExecutionException e) {
                if (loop.inEventLoop()) {
                    task.run();
                } else {
                    loop.terminationFuture().addListener(terminated -> task.run());
                }
            }
        }

        /**
         * Called when neither the channel nor the device uses an operation any more, by the thread that uses the connection.
         * This is after the promise has failed if the channel was closed, or its output shut down, and otherwise before the
         * promise is done.
         */
        private void released() {
            if (loop.inEventLoop()) {
                countReleased();
            } else {
                onLoop(this::countReleased);
            }
        }

        private void countReleased() {
            inUse--;
            if (inUse == 0 && underWay == 0) {
                // Completions are being handled, or the connection is being destroyed: no listener may be called in between.
                onLoop(this::endIfDone);
            }
        }

        /**
         * Handles the end of an operation. Operations complete in the order in which they were written, with one exception: one
         * that cannot be posted fails immediately, before those that are under way, one of which may fail too.
         */
        private void completed(long from, long bytes, Throwable cause) {
            underWay--;
            if (cause == null) {
                completed += bytes;
                promise.tryProgress(completed, whole.length());
            } else if (failure == null || from < failure.offset()) {
                failure = failed(from, cause);
            }
            if (failure != null) {
                // The connection may have failed and be about to be destroyed. The device can access the memory until then.
                onLoop(this::endIfDone);
            } else if (completed < whole.length()) {
                writeMore();
            } else {
                endIfDone();
            }
        }

        private RpmaTransferException failed(long from, Throwable cause) {
            return new RpmaTransferException(whole.work().text() + " of " + whole.length() + " bytes failed at offset " + from
                + ": " + (cause.getMessage() != null ? cause.getMessage() : cause), from, cause);
        }

        private void endIfDone() {
            if (underWay > 0 || inUse > 0 || isWriting || promise.isDone() || failure == null && completed < whole.length()) {
                return;
            }
            if (failure == null) {
                try {
                    whole.partsSucceeded();
                } catch (Throwable e) {
                    // The application has used the buffer, so that its writer index cannot advance, or it throws an error.
                    failure = failed(completed, e);
                }
            }
            whole.release();
            if (failure != null) {
                promise.setFailure(failure);
            } else {
                promise.setSuccess();
            }
        }
    }
}
