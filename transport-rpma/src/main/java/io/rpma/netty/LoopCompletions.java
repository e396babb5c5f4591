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

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.collection.IntObjectHashMap;
import io.rpma.CompletionQueue;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/**
 * The completions of all messages that the streams of one event loop receive, in one queue: {@code rpma_srq_get_rcq(3)}. The loop
 * polls it, however many connections there are, and arms it before it sleeps. Each completion names the queue pair that it
 * belongs to.
 *
 * <p>A queue pair may be known to a completion before it is known here: another thread makes the connections that a server
 * accepts. Its completions are kept meanwhile. Those of a queue pair that is used by another thread, because its channel is not
 * on this loop yet, or is on it no more, go to the queue pair's inbox ({@link StreamQueuePair#forward}).
 *
 * <p>Used by the thread of the loop, except where it is said.
 */
final class LoopCompletions implements RpmaIoHandle {
    /** So many connections are told between two looks at the events of all, if those are overdue. */
    private static final int LOOK_INTERVAL = 16;

    /** What a test puts in place of the completion queue of a loop, so that it can fail. */
    static volatile BiFunction<IoEventLoop, CompletionQueue, CompletionQueue> faults = (loop, queue) -> queue;

    private final SharedReceives receives;
    private final CompletionQueue queue;
    private final IoEventLoop loop;
    private final IntObjectHashMap<StreamQueuePair> pairs = new IntObjectHashMap<>();
    // Connections that are being made, and are not among the pairs yet.
    private final AtomicInteger expected = new AtomicInteger();
    private final List<StreamArrival> strays = new ArrayList<>();
    // The queue pairs that have taken something of which their listeners have not been told yet.
    private StreamQueuePair[] touched = new StreamQueuePair[64];
    private int touchedCount;
    private boolean telling;
    private boolean tellingLater;
    private IoRegistration registration;
    // Under the lock of this object.
    private boolean watched;
    private volatile boolean ended;
    // Why nothing can be received by this queue any more.
    private volatile IOException failure;

    LoopCompletions(SharedReceives receives, CompletionQueue queue, IoEventLoop loop) {
        this.receives = receives;
        this.queue = faults.apply(loop, queue);
        this.loop = loop;
    }

    /** Returns the loop that polls. Any thread. */
    IoEventLoop loop() {
        return loop;
    }

    // ---- on the loop, and off it ----

    /** Has the loop poll, if it does not yet. Any thread. */
    void watch() {
        synchronized (this) {
            if (watched) {
                return;
            }
            watched = true;
        }
        loop.register(this).addListener(future -> {
            if (future.isSuccess()) {
                registration = (IoRegistration) future.getNow();
                registration.submit(RpmaIoOps.OPEN);
            } else {
                ended = true;
            }
        });
    }

    /** Whether the loop polls no more, because it has ended. Any thread. */
    boolean isEnded() {
        return ended;
    }

    /** Polls no more, and has something run after that. Any thread. */
    void end(Runnable task) {
        Runnable end = () -> {
            ended = true;
            if (registration != null) {
                registration.cancel();
            }
            task.run();
        };
        // Not at once: this may be the middle of a batch, whose queue would be gone.
        later(end);
    }

    /** Has something run by the loop; by another thread when the loop has ended, if it takes no tasks any more. */
    private void later(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // The loop may poll until it has ended.
            loop.terminationFuture().addListener(future -> task.run());
        }
    }

    // ---- the queue pairs ----

    /** Says that a connection is about to be made: {@link #add} or {@link #expectNoMore} follows. Any thread. */
    void expect() {
        expected.incrementAndGet();
    }

    /** Nothing came of a connection that was expected. Any thread. */
    void expectNoMore() {
        onLoop(this::expectationEnded);
    }

    /** Takes a queue pair's completions from here on. Any thread. */
    void add(StreamQueuePair pair) {
        onLoop(() -> {
            pairs.put(pair.number(), pair);
            for (int i = 0; i < strays.size(); i++) {
                StreamArrival stray = strays.get(i);
                if (stray.queuePair() == pair.number()) {
                    strays.remove(i--);
                    pair.forward(stray);
                }
            }
            expectationEnded();
            if (failure != null) {
                // It failed while the connection was being made.
                breakWith(pair, failure);
            }
        });
    }

    /** Returns why this queue failed, {@code null} if it has not. Any thread. */
    IOException failure() {
        return failure;
    }

    private void expectationEnded() {
        if (expected.decrementAndGet() == 0 && !strays.isEmpty()) {
            // Of connections that are no more: their receives are everybody's.
            for (StreamArrival stray : strays) {
                repost(stray.slot());
            }
            strays.clear();
        }
    }

    /** Takes no more of a queue pair that has been destroyed: nothing new comes of it. Any thread. */
    void remove(StreamQueuePair pair) {
        onLoop(() -> {
            drain();
            if (pairs.get(pair.number()) == pair) {
                pairs.remove(pair.number());
            }
            pair.takeForwarded();
        });
    }

    /**
     * Has something run on the loop, at once if this is its thread.
     *
     * @return whether it was run, or will be
     */
    boolean onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return true;
        }
        try {
            loop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            // The loop has ended, and with it all that it polled for.
            return false;
        }
    }

    // ---- completions ----

    @Override
    public int poll(WorkCompletions batch) {
        int n = take(batch);
        tell();
        return n;
    }

    /** Takes what has completed by now, without telling the listeners, which are told soon. */
    void drain() {
        if (ended) {
            return;
        }
        WorkCompletions rest = QueuePair.rest();
        for (int left = receives.most(); left > 0;) {
            int n = take(rest);
            if (n == 0) {
                break;
            }
            left -= n;
        }
        tellLater();
    }

    private int take(WorkCompletions batch) {
        if (failure != null) {
            return 0;
        }
        int n;
        try {
            n = queue.poll(batch);
        } catch (RpmaException e) {
            failed(e);
            return 0;
        }
        StreamQueuePair pair = null;
        int number = -1;
        for (int i = 0; i < n; i++) {
            if (batch.queuePairNumber(i) != number || pair == null) {
                number = batch.queuePairNumber(i);
                pair = pairs.get(number);
            }
            if (pair == null) {
                takeStray(batch, i);
            } else if (pair.isHome()) {
                touch(pair);
                try {
                    pair.handle(batch, i);
                } catch (Throwable e) {
                    // The others of the batch are not to blame.
                    pair.cannotTake(e);
                }
            } else {
                pair.forward(StreamArrival.of(batch, i));
            }
        }
        return n;
    }

    /** Nothing can be received by this queue any more: its connections end, and the next ones get another queue. */
    @Override
    public void failed(Throwable e) {
        if (!ended) {
            failure = new IOException("the completion queue of its event loop failed: " + e.getMessage(), e);
            ended = true;
            AbstractRpmaServerChannel.LOGGER.error("The completion queue of the streams of {} failed; they are closed.", loop, e);
            receives.retire();
            for (StreamQueuePair pair : pairs.values()) {
                breakWith(pair, failure);
            }
        }
    }

    private void breakWith(StreamQueuePair pair, IOException cause) {
        if (pair.isHome()) {
            touch(pair);
            pair.breakWith(cause);
            tellLater();
        } else {
            pair.breakElsewhere(cause);
        }
    }

    private void takeStray(WorkCompletions batch, int index) {
        if (expected.get() > 0) {
            strays.add(StreamArrival.of(batch, index));
        } else {
            repost((int) batch.context(index));
        }
    }

    private void repost(int slot) {
        try {
            receives.repost(slot);
        } catch (RpmaException e) {
            AbstractRpmaServerChannel.LOGGER.error("A receive that the streams of {} share could not be posted again.", loop, e);
        }
    }

    private void touch(StreamQueuePair pair) {
        if (pair.touch()) {
            if (touchedCount == touched.length) {
                touched = Arrays.copyOf(touched, 2 * touchedCount);
            }
            touched[touchedCount++] = pair;
        }
    }

    /** Tells the listeners of the queue pairs what they have taken. They may close any connection, and add to the list. */
    private void tell() {
        if (telling) {
            return;
        }
        telling = true;
        try {
            for (int i = 0; i < touchedCount; i++) {
                if (touchedCount > 1 && (i & LOOK_INTERVAL - 1) == 0 && registration != null) {
                    registration.<RpmaIoHandler>attachment().catchUp();
                }
                StreamQueuePair pair = touched[i];
                touched[i] = null;
                try {
                    pair.settle();
                } catch (Throwable e) {
                    // The others that are to be told are not to blame.
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
            later(() -> {
                tellingLater = false;
                tell();
            });
        }
    }

    // ---- the handle ----

    @Override
    public boolean hasEvents() {
        return false;
    }

    @Override
    public int[] eventFds() {
        return new int[] {-1};
    }

    @Override
    public void eventsReady() {
        // There are none.
    }

    @Override
    public CompletionQueue completionQueue() {
        return queue;
    }

    @Override
    public void close() {
        // The connections of the loop are closed now, and what they still receive comes here.
    }

    @Override
    public boolean finish() {
        // What connections wait for that are being closed may be here.
        poll(QueuePair.rest());
        return true;
    }

    @Override
    public void destroy() {
        if (!ended) {
            ended = true;
            receives.loopEnded();
        }
    }

    @Override
    public String toString() {
        return "completions of the streams of " + loop;
    }
}
