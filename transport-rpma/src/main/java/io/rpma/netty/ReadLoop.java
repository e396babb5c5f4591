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

import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The read loop of a connected channel. It reads what has arrived while a read is wanted, and notifies the pipeline of the end
 * of each turn. What is read, and what happens at the end of the input, depends on the kind of channel ({@link Source}).
 *
 * <p>Used by the event loop of the channel.
 */
final class ReadLoop {
    private static final InliningBarrier READ_ARRIVED = new InliningBarrier(MethodHandles.lookup(), Source.class, "readArrived",
        MethodType.methodType(boolean.class, RecvByteBufAllocator.ExtendedHandle.class));

    private static final InliningBarrier READ_TURN =
        new InliningBarrier(MethodHandles.lookup(), ReadLoop.class, "readTurn", MethodType.methodType(void.class));

    private final AbstractRpmaChannel channel;
    private final Source source;
    // Belongs to the current registration. A task that is still scheduled when the channel leaves the loop must do nothing.
    private Task task;
    private boolean requested;
    private boolean ended;
    private boolean reading;

    /** What a kind of channel reads. All methods are called on the event loop. */
    interface Source {
        /** Returns whether the channel is open and is not about to close. */
        boolean mayRead();

        /** Returns whether there is data to read, or an end of the connection that the pipeline has not been notified of. */
        boolean hasInput();

        /**
         * Reads and fires what has arrived, as far as the handle allows. Calls {@link #served()} before it fires a message. It
         * is called through an {@link InliningBarrier}.
         *
         * @return whether everything has been read and nothing will follow
         */
        boolean readArrived(RecvByteBufAllocator.ExtendedHandle handle) throws Exception;

        /**
         * Called if input is left: it has not been read in one turn, or the application does not want to read now. The pipeline
         * is not being called.
         *
         * @param wanted whether a turn that will read it is scheduled
         */
        default void leftUnread(boolean wanted) {
        }

        /**
         * Called after the pipeline has been notified of the end of the turn.
         *
         * @param drained the result of {@link #readArrived}
         */
        void turnEnded(boolean drained) throws Exception;

        /** Called after the pipeline has been notified of an exception that was thrown while reading. */
        void readFailed(Throwable cause);
    }

    /** Creates the loop of a channel that is being constructed. */
    ReadLoop(AbstractRpmaChannel channel, Source source) {
        this.channel = channel;
        this.source = source;
    }

    /** Called when the channel has been registered with an event loop. */
    void registered() {
        task = new Task();
    }

    /** Called when the channel has left its event loop. */
    void deregistered() {
        task = null;
    }

    /** Requests a read. */
    void request() {
        requested = true;
        if (channel.pair() != null && source.hasInput()) {
            schedule();
        }
    }

    /** Called when the application has shut down the input, which the source drops from now on. */
    void dropInput() {
        // Nobody requests reads any more. Input that is not dropped would make the peer wait without an end.
        ended = true;
        if (source.hasInput()) {
            schedule();
        }
    }

    /** Clears the request: a message is being read, or the request is not valid any more. */
    void served() {
        requested = false;
    }

    /** Returns whether a read has been requested, or everything is read because the input has ended. */
    private boolean isWanted() {
        // After either end has ended the input, all data is read, requested or not: otherwise the end of the stream would never
        // be reached.
        return requested || channel.config().isAutoRead() || ended;
    }

    /**
     * Reads if a read is wanted.
     *
     * @param atEnd whether the peer has ended the input, or the connection has ended
     */
    void inputArrived(boolean atEnd) {
        if (atEnd && !ended) {
            // Read even if no read was requested: an application that does not read must be notified that the peer is gone.
            ended = true;
            read();
        } else if (isWanted()) {
            read();
        } else if (!reading) {
            source.leftUnread(false);
        }
    }

    private void read() {
        if (!reading) {
            try {
                READ_TURN.method().invokeExact(this);
            } catch (Throwable e) {
                PlatformDependent.throwException(e);
            }
        }
    }

    private void readTurn() {
        RecvByteBufAllocator.ExtendedHandle ready = null;
        reading = true;
        try {
            RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
            handle.reset(channel.config());
            ready = handle;
            boolean drained = (boolean) READ_ARRIVED.method().invokeExact(source, handle);
            handle.readComplete();
            channel.pipeline().fireChannelReadComplete();
            source.turnEnded(drained);
        } catch (Throwable t) {
            turnFailed(ready, t);
        } finally {
            reading = false;
            readMore();
        }
    }

    /**
     * Notifies the pipeline of an exception that was thrown while reading.
     *
     * @param handle the handle, or {@code null} if a turn cannot begin because the handle of the application throws exceptions
     */
    private void turnFailed(RecvByteBufAllocator.ExtendedHandle handle, Throwable cause) {
        boolean usable = handle != null && isCompleted(handle, cause);
        ChannelPipeline pipeline = channel.pipeline();
        if (handle != null) {
            pipeline.fireChannelReadComplete();
        }
        pipeline.fireExceptionCaught(cause);
        if (usable) {
            source.readFailed(cause);
        } else {
            // Nothing can be read any more, and the peer would wait for it without an end.
            channel.unsafe().close(channel.unsafe().voidPromise());
        }
    }

    private static boolean isCompleted(RecvByteBufAllocator.ExtendedHandle handle, Throwable cause) {
        try {
            handle.readComplete();
            return true;
        } catch (Throwable t) {
            if (t != cause) {
                cause.addSuppressed(t);
            }
            return false;
        }
    }

    private void readMore() {
        if (source.mayRead() && source.hasInput()) {
            boolean wanted = isWanted();
            if (wanted) {
                schedule();
            }
            source.leftUnread(wanted);
        }
    }

    /** Schedules another turn. If the channel is not registered, it happens after the next registration. */
    private void schedule() {
        Task next = task;
        if (next != null && !next.isScheduled && !reading) {
            next.isScheduled = true;
            channel.eventLoop().execute(next);
        }
    }

    private final class Task implements Runnable {
        private boolean isScheduled;

        @Override
        public void run() {
            isScheduled = false;
            if (task == this && source.mayRead() && source.hasInput()) {
                if (isWanted()) {
                    read();
                } else {
                    source.leftUnread(false);
                }
            }
        }
    }
}
