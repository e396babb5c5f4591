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
package io.rpma.netty.receive;

import io.netty.buffer.ByteBuf;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.rpma.CompletionQueue;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.EpollSet;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.ProviderCalls;
import io.rpma.netty.pair.ThreadBatch;
import io.rpma.netty.pair.TransportLogger;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/**
 * The completions of all messages that the streams of one event loop receive, in one queue ({@code rpma_srq_get_rcq(3)}). The
 * loop polls this one queue, however many connections there are, and arms it before it blocks. Each completion contains the
 * number of the queue pair that it belongs to.
 *
 * <p>A completion may arrive before its queue pair has been added, because a server's connections are made by another thread.
 * Such completions are kept until then. If a queue pair is used by another thread, because its channel is not registered with
 * this loop yet or any more, its completions go to the inbox of the queue pair ({@link LoopReceives}).
 *
 * <p>Used by the thread of the loop, unless stated otherwise.
 */
public final class LoopCompletions implements RpmaIoHandle {
    /** While connections are notified, overdue events of all connections are handled after this many of them. */
    private static final int LOOK_INTERVAL = 16;

    /** Replaced by a test in order to let the completion queue of a loop fail. */
    public static volatile BiFunction<IoEventLoop, CompletionQueue, CompletionQueue> faults = (loop, queue) -> queue;

    /** Runs before a connection is added; replaced by a test in order to let its first completions arrive earlier. */
    public static volatile Runnable beforeAdding = () -> { };

    /** The shared receives whose completions the queue has. */
    interface Owner {
        /** Returns the number of receives. */
        int most();

        /** Posts a receive again. */
        void repost(int slot) throws RpmaException;

        /** Returns whether a message that waits must release its receive. */
        boolean isCrowded();

        /** Moves a message out of its receive, and posts the receive again; see {@link ReceiveBuffers#move}. */
        ByteBuf move(int slot, int bytes) throws RpmaException;

        /** Excludes the receives from being chosen for further connections, and ends them with their last connection. */
        void retire();

        /** Called when the loop that polls the completions has ended. */
        void loopEnded();
    }

    private final Owner receives;
    private final CompletionQueue queue;
    private final IoEventLoop loop;
    private final IntObjectHashMap<ReceivingPair> pairs = new IntObjectHashMap<>();
    // The number of connections that are being made and have not been added yet.
    private final AtomicInteger expected = new AtomicInteger();
    private final List<StreamArrival> strays = new ArrayList<>();
    // The queue pairs with effects of completions that their listeners have not been notified of yet.
    private ReceivingPair[] touched = new ReceivingPair[64];
    private int touchedCount;
    private boolean telling;
    private boolean tellingLater;
    private IoRegistration registration;
    // The next three are guarded by the lock of this object.
    private boolean watched;
    private boolean destroyed;
    private Runnable afterDestroy;
    private volatile boolean ended;
    // Why this queue can receive nothing any more, or null.
    private volatile IOException failure;

    LoopCompletions(Owner receives, CompletionQueue queue, IoEventLoop loop) {
        this.receives = receives;
        this.queue = faults.apply(loop, queue);
        this.loop = loop;
    }

    /** Returns the loop that polls. Any thread. */
    IoEventLoop loop() {
        return loop;
    }

    Owner receives() {
        return receives;
    }

    // ---- on the loop, and off it ----

    /** Registers this queue with the loop, unless that has been done. Any thread. */
    void watch() {
        synchronized (this) {
            if (watched) {
                return;
            }
            watched = true;
        }
        if (!onLoop(this::register)) {
            endUnwatched();
        }
    }

    private void register() {
        loop.register(this).addListener(future -> {
            if (future.isSuccess()) {
                registration = (IoRegistration) future.getNow();
                registration.submit(RpmaIoOps.OPEN);
            } else {
                endUnwatched();
            }
        });
    }

    private void endUnwatched() {
        ended = true;
        Runnable last = lastTask();
        if (last != null) {
            last.run();
        }
    }

    /** Returns whether this queue is no longer polled. Any thread. */
    boolean isEnded() {
        return ended;
    }

    /** Stops polling, and then runs a task. Any thread. */
    void end(Runnable task) {
        // Not immediately: this may be the middle of a batch, and the task may destroy the queue.
        if (!EventLoops.execute(loop, () -> {
            ended = true;
            if (registration != null) {
                registration.cancel();
            }
            task.run();
        })) {
            endWithLoop(task);
        }
    }

    /** Runs a task as soon as a loop that accepts no more tasks has polled for the last time. Any thread. */
    private void endWithLoop(Runnable task) {
        synchronized (this) {
            if (watched && !destroyed) {
                afterDestroy = task;
                return;
            }
        }
        task.run();
    }

    /** Returns the task that has waited for the last poll, or {@code null}. */
    private synchronized Runnable lastTask() {
        Runnable task = afterDestroy;
        afterDestroy = null;
        destroyed = true;
        return task;
    }

    // ---- the queue pairs ----

    /** Announces that a connection is about to be made; {@link #add} or {@link #expectNoMore} follows. Any thread. */
    public void expect() {
        expected.incrementAndGet();
    }

    /** Reports that an announced connection was not made. Any thread. */
    public void expectNoMore() {
        onLoop(this::expectationEnded);
    }

    /**
     * Begins to deliver completions to a queue pair. Any thread. If this is not the thread of the loop, the loop is not woken:
     * completions and the registration of a channel wake it.
     */
    public void add(ReceivingPair pair) {
        Runnable task = () -> {
            pairs.put(pair.elsewhere().number(), pair);
            for (int i = 0; i < strays.size(); i++) {
                StreamArrival stray = strays.get(i);
                if (stray.queuePair() == pair.elsewhere().number()) {
                    strays.remove(i--);
                    pair.elsewhere().forward(stray);
                }
            }
            expectationEnded();
            if (failure != null) {
                // The queue failed while the connection was being made.
                breakWith(pair, failure);
            }
        };
        beforeAdding.run();
        try {
            if (!loop.inEventLoop() && loop instanceof AbstractEventExecutor executor) {
                executor.lazyExecute(task);
                return;
            }
        } catch (RuntimeException e) {
            TransportLogger.LOGGER.trace("{} has ended, or accepts no further task.", loop, e);
        }
        onLoop(task);
    }

    /** Lets the loop run the tasks that it was not woken for. Any thread. */
    void wake() {
        onLoop(() -> { });
    }

    /** Returns why this queue can receive nothing any more, or {@code null}. Any thread. */
    IOException failure() {
        return failure != null || !loop.isShutdown() ? failure
            : new IOException("the loop that receives this channel's messages has ended: the channel was moved to another loop");
    }

    private void expectationEnded() {
        if (expected.decrementAndGet() == 0 && !strays.isEmpty()) {
            // These completions belong to connections that no longer exist; their receives are shared and are posted again.
            for (StreamArrival stray : strays) {
                repost(stray.slot());
            }
            strays.clear();
        }
    }

    /**
     * Stops delivering completions to a queue pair that has been destroyed and causes no new ones. Any thread.
     *
     * @return false if the loop has ended, so that the completions for the queue pair will not be taken on its thread
     */
    boolean remove(ReceivingPair pair) {
        return onLoop(() -> {
            drain();
            if (pairs.get(pair.elsewhere().number()) == pair) {
                pairs.remove(pair.elsewhere().number());
            }
            pair.elsewhere().takeForwarded();
        });
    }

    /**
     * Runs a task on the loop, immediately if this is its thread.
     *
     * @return whether the task has been run or scheduled
     */
    boolean onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return true;
        }
        return EventLoops.execute(loop, task);
    }

    /** Runs a task on the loop after a delay, in nanoseconds. Returns whether the loop still accepts tasks. Any thread. */
    boolean schedule(Runnable task, long delay) {
        try {
            loop.schedule(task, delay, TimeUnit.NANOSECONDS);
            return true;
        } catch (RuntimeException e) {
            return !loop.inEventLoop() && EventLoops.execute(loop, () -> loop.schedule(task, delay, TimeUnit.NANOSECONDS));
        }
    }

    // ---- completions ----

    @Override
    public int poll(WorkCompletions batch) {
        int n = take(batch);
        tell();
        return n;
    }

    /** Handles the pending completions without notifying the listeners, which are notified soon after. */
    void drain() {
        if (ended) {
            return;
        }
        WorkCompletions rest = ThreadBatch.get();
        for (int left = receives.most(); left > 0;) {
            int n = take(rest);
            if (n == 0) {
                break;
            }
            left -= n;
        }
        if (registration != null) {
            // A loop must arm a queue after it has polled it without events (CompletionQueue.pollWithoutEvent).
            registration.submit(RpmaIoOps.HOT);
        }
        tellLater();
    }

    private int take(WorkCompletions batch) {
        if (failure != null) {
            return 0;
        }
        int n;
        try {
            n = ProviderCalls.pollWithoutEvent(queue, batch);
        } catch (RpmaException e) {
            failed(e);
            return 0;
        }
        ReceivingPair pair = null;
        int number = -1;
        for (int i = 0; i < n; i++) {
            if (batch.queuePairNumber(i) != number || pair == null) {
                number = batch.queuePairNumber(i);
                pair = pairs.get(number);
            }
            if (pair == null) {
                takeStray(batch, i);
            } else if (pair.elsewhere().isHome()) {
                touch(pair);
                try {
                    pair.handle(batch, i);
                } catch (Throwable e) {
                    // The other completions of the batch have to be handled as well.
                    pair.cannotTake(e);
                }
            } else {
                pair.elsewhere().forward(StreamArrival.of(batch, i));
            }
        }
        return n;
    }

    /** Handles a failure of the completion queue: its connections are closed, and new ones get another queue. */
    @Override
    public void failed(Throwable e) {
        if (!ended) {
            failure = new IOException("the completion queue of its event loop failed: " + e.getMessage(), e);
            ended = true;
            TransportLogger.LOGGER.error("The completion queue of the streams of {} failed; they are closed.", loop, e);
            receives.retire();
            for (ReceivingPair pair : pairs.values()) {
                breakWith(pair, failure);
            }
        }
    }

    private void breakWith(ReceivingPair pair, IOException cause) {
        if (pair.elsewhere().isHome()) {
            touch(pair);
            pair.breakWith(cause);
            tellLater();
        } else {
            pair.elsewhere().breakWith(cause);
        }
    }

    private void takeStray(WorkCompletions batch, int index) {
        if (expected.get() > 0) {
            strays.add(StreamArrival.of(batch, index));
        } else {
            repost((int) batch.context(index));
        }
    }

    /** Posts a receive again. */
    void repost(int slot) {
        try {
            receives.repost(slot);
        } catch (RpmaException e) {
            TransportLogger.LOGGER.error("A receive that the streams of {} share could not be posted again.", loop, e);
        }
    }

    private void touch(ReceivingPair pair) {
        if (pair.touch()) {
            if (touchedCount == touched.length) {
                touched = Arrays.copyOf(touched, 2 * touchedCount);
            }
            touched[touchedCount++] = pair;
        }
    }

    /** Notifies the listeners of the queue pairs in the list. They may close any connection, and may add to the list. */
    private void tell() {
        if (telling) {
            return;
        }
        telling = true;
        try {
            for (int i = 0; i < touchedCount; i++) {
                if (touchedCount > 1 && (i & LOOK_INTERVAL - 1) == 0 && registration != null) {
                    registration.<EpollSet>attachment().catchUp();
                }
                ReceivingPair pair = touched[i];
                touched[i] = null;
                if (!pair.elsewhere().isHome()) {
                    // The channel has left this loop since. Its next loop handles what there is.
                    continue;
                }
                try {
                    pair.settle();
                } catch (Throwable e) {
                    // The other listeners have to be notified as well.
                    pair.cannotTell(e);
                }
            }
        } finally {
            touchedCount = 0;
            telling = false;
        }
    }

    private void tellLater() {
        if (touchedCount > 0 && !telling && !tellingLater) {
            tellingLater = true;
            Runnable task = () -> {
                tellingLater = false;
                tell();
            };
            if (!EventLoops.execute(loop, task)) {
                // The loop is ending, and this is its thread.
                task.run();
            }
        }
    }

    // ---- the handle ----

    @Override
    public boolean hasEvents() {
        return false;
    }

    @Override
    public int[] eventFds(Runnable ready) {
        return new int[] {-1};
    }

    @Override
    public void eventsReady() {
        // There are no events.
    }

    @Override
    public CompletionQueue completionQueue() {
        return queue;
    }

    @Override
    public void close() {
        // The connections of the loop are being closed, and still receive completions from this queue.
    }

    @Override
    public boolean finish() {
        // Connections that are being closed may wait for completions in this queue.
        poll(ThreadBatch.get());
        return true;
    }

    @Override
    public void destroy() {
        boolean wasEnded = ended;
        ended = true;
        pairs.values().forEach(pair -> pair.elsewhere().loopEnded());
        Runnable last = lastTask();
        if (last != null) {
            last.run();
        } else if (!wasEnded) {
            receives.loopEnded();
        }
    }

    @Override
    public String toString() {
        return "completions of the streams of " + loop;
    }
}
