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

package io.rpma.netty.connect;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.PlatformDependent;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.EventDescriptors;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.QueuePairCalls;
import io.rpma.netty.pair.QueuePairListener;
import io.rpma.netty.pair.ThreadBatch;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.TimeUnit;

/**
 * A handle that keeps a closed connection open until all data whose promises succeeded has been delivered. It is created on the
 * event loop when an established channel is closed. It ends the stream, unless the close is an abort, waits for the last
 * completion, and destroys the queue pair; a timer bounds the wait. A TCP socket behaves in the same way when it is closed.
 */
public final class LingeringClose implements RpmaIoHandle, QueuePairListener {
    /** How long to wait for a peer that does not answer, unless {@code SO_LINGER} is set. */
    public static final long DEFAULT_MILLIS = 5_000;
    /** The bound of an abort, which does not end the stream; a device that works needs only microseconds. */
    private static final long ABORT_MILLIS = 1_000;
    /** The largest number of immediate polls: a peer that continues to send must not block the loop. */
    private static final int MOST_POLLS = 16;

    private static final InliningBarrier START = InliningBarrier.ofStatic(MethodHandles.lookup(), LingeringClose.class, "start",
        MethodType.methodType(void.class, QueuePair.class, boolean.class, EventLoop.class, long.class));

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
     * @param pair an established queue pair that is not watched any more
     * @param loop the current event loop
     * @param millis how long the delivery may take
     */
    public static void close(QueuePair pair, EventLoop loop, long millis) {
        pair.finish();
        startBehindBarrier(pair, true, loop, millis);
    }

    /**
     * Closes a queue pair without ending the stream, after everything that was handed to the device has completed. The peer
     * sees a reset.
     *
     * @param pair an established queue pair that is not watched any more
     * @param loop the current event loop
     */
    public static void abort(QueuePair pair, EventLoop loop) {
        startBehindBarrier(pair, false, loop, ABORT_MILLIS);
    }

    private static void startBehindBarrier(QueuePair pair, boolean orderly, EventLoop loop, long millis) {
        try {
            START.method().invokeExact(pair, orderly, loop, millis);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    private static void start(QueuePair pair, boolean orderly, EventLoop loop, long millis) {
        LingeringClose lingering = new LingeringClose(pair, orderly);
        pair.listener(lingering);
        if (lingering.isDone()) {
            QueuePairCalls.close(pair);
            return;
        }
        // Often the completion has arrived already, and neither a registration nor a timer is needed.
        WorkCompletions batch = ThreadBatch.get();
        for (int polls = 0; polls < MOST_POLLS && !lingering.isDone() && pair.poll(batch) > 0; polls++) {
            continue;
        }
        if (pair.isClosed() || lingering.isDone()) {
            QueuePairCalls.close(pair);
            return;
        }
        ((IoEventLoop) loop).register(lingering).addListener(future -> {
            if (!future.isSuccess()) {
                pair.close();
                return;
            }
            lingering.registration = (IoRegistration) future.getNow();
            if (pair.isClosed()) {
                // Netty defers a listener if its stack is deep. The close has ended meanwhile.
                lingering.registration.cancel();
                return;
            }
            lingering.registration.submit(RpmaIoOps.OPEN);
            if (!loop.isShuttingDown()) {
                // While the loop shuts down no timer can be scheduled; finish() and destroy() end the wait instead.
                lingering.timeout = loop.schedule(lingering::end, millis, TimeUnit.MILLISECONDS);
            }
        });
    }

    private boolean isDone() {
        return pair.broken() != null || pair.terminal() != null
            || (orderly ? pair.isFinished() && pair.isDelivered() : pair.isSettled());
    }

    private void end() {
        if (timeout != null) {
            timeout.cancel(false);
        }
        if (registration != null) {
            registration.cancel();
        }
        QueuePairCalls.close(pair);
    }

    @Override
    public void established() {
        // The connection was established before the close began.
    }

    @Override
    public void readable() {
        // Received data is not read any more. The peer stops by itself, because no credits are returned. The connection may have
        // ended in a task of another loop, which was deferred until that loop had looked for the last messages.
        if (isDone()) {
            end();
        }
    }

    @Override
    public void writable() {
        // Nothing is left to be written, but the peer may have confirmed the end of the stream.
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
    public void ending() {
        // A timer bounds the close in any case.
    }

    @Override
    public int[] eventFds(Runnable ready) {
        return EventDescriptors.of(pair.connection, ready);
    }

    @Override
    public void eventsReady() {
        QueuePairCalls.drainEvents(pair);
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
        // The loop begins to shut down. The delivery may still succeed; finish() and destroy() bound it.
    }

    @Override
    public boolean finish() {
        if (!pair.isClosed() && !isDone()) {
            QueuePairCalls.drainEvents(pair);
            pair.poll(ThreadBatch.get());
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
