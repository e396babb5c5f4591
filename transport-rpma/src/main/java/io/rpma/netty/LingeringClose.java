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

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import java.util.concurrent.TimeUnit;

/**
 * What a closed channel leaves behind until everything whose promise succeeded has been delivered: it ends the stream unless the
 * close is an abort, waits for the last completion, and destroys the queue pair. As the kernel does for a TCP socket, it works on
 * when the channel is gone; a timer bounds it.
 */
final class LingeringClose implements RpmaIoHandle, QueuePair.Listener {
    /** How long a peer that does not answer is waited for, unless {@code SO_LINGER} says otherwise. */
    static final long DEFAULT_MILLIS = 5_000;
    /** Without the end of the stream, a device that answers needs microseconds. */
    private static final long ABORT_MILLIS = 1_000;
    /** So often at once: a peer that goes on sending must not keep the loop. */
    private static final int MOST_POLLS = 16;

    private final QueuePair pair;
    private final boolean orderly;
    private IoRegistration registration;
    private Future<?> timeout;

    private LingeringClose(QueuePair pair, boolean orderly) {
        this.pair = pair;
        this.orderly = orderly;
    }

    /**
     * Closes a queue pair in order.
     *
     * @param pair established, and watched by nobody any more
     * @param loop the loop, on which this is called
     * @param millis how long the delivery may take
     */
    static void close(QueuePair pair, EventLoop loop, long millis) {
        pair.finish();
        start(pair, true, loop, millis);
    }

    /**
     * Closes a queue pair without the end of the stream, so that the peer sees a reset, after what was handed to the device.
     *
     * @param pair established, and watched by nobody any more
     * @param loop the loop, on which this is called
     */
    static void abort(QueuePair pair, EventLoop loop) {
        start(pair, false, loop, ABORT_MILLIS);
    }

    private static void start(QueuePair pair, boolean orderly, EventLoop loop, long millis) {
        LingeringClose lingering = new LingeringClose(pair, orderly);
        pair.listener(lingering);
        if (lingering.isDone()) {
            pair.close();
            return;
        }
        // Often the completion is there already: then neither a registration nor a timer is needed.
        WorkCompletions batch = QueuePair.rest();
        for (int polls = 0; polls < MOST_POLLS && !lingering.isDone() && pair.poll(batch) > 0; polls++) {
            continue;
        }
        if (pair.isClosed() || lingering.isDone()) {
            pair.close();
            return;
        }
        ((IoEventLoop) loop).register(lingering).addListener(future -> {
            if (!future.isSuccess()) {
                pair.close();
                return;
            }
            lingering.registration = (IoRegistration) future.getNow();
            lingering.registration.submit(RpmaIoOps.OPEN);
            if (!loop.isShuttingDown()) {
                // Otherwise the loop's end is the bound.
                lingering.timeout = loop.schedule(lingering::end, millis, TimeUnit.MILLISECONDS);
            }
        });
    }

    private boolean isDone() {
        return pair.broken() != null || (orderly ? pair.isFinished() && pair.isDelivered() : pair.isSettled());
    }

    private void end() {
        if (timeout != null) {
            timeout.cancel(false);
        }
        if (registration != null) {
            registration.cancel();
        }
        pair.close();
    }

    @Override
    public void established() {
        // Has been for long.
    }

    @Override
    public void readable() {
        // Nobody reads any more. Without returned credits the peer stops by itself.
    }

    @Override
    public void writable() {
        // Nothing is left to be written; but the peer may have confirmed the end.
        if (isDone()) {
            end();
        }
    }

    @Override
    public void failed() {
        end();
    }

    @Override
    public void posted() {
        // The queue is polled until the end.
    }

    @Override
    public void flushed() {
        // The close is bounded anyway.
    }

    @Override
    public int[] eventFds() {
        return new int[] {pair.eventFd()};
    }

    @Override
    public void eventsReady() {
        pair.drainEvents();
        if (isDone()) {
            end();
        }
    }

    @Override
    public CompletionQueue completionQueue() {
        return pair.completionQueue();
    }

    @Override
    public int poll(WorkCompletions batch) {
        int n = pair.poll(batch);
        if (isDone()) {
            end();
        }
        return n;
    }

    @Override
    public void close() {
        // The loop begins to shut down: the delivery may still succeed, and finish() and destroy() end it.
    }

    @Override
    public boolean finish() {
        if (!pair.isClosed() && !isDone()) {
            pair.drainEvents();
            pair.poll(QueuePair.rest());
        }
        return pair.isClosed() || isDone();
    }

    @Override
    public void destroy() {
        end();
    }

    @Override
    public String toString() {
        return "closing " + pair;
    }
}
