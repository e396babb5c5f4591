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
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.rpma.CompletionOpcode;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.TransportLogger;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The receives of a stream that complete in the queue of an event loop ({@link LoopCompletions}) and not in the connection's own.
 * While the thread that polls that queue also uses the stream, it handles the completions directly. Otherwise they go through an
 * inbox to the thread that uses the stream: its channel is not registered with that loop yet, or any more. That may last, for
 * example while a server does not accept. The inbox therefore holds only as many messages as the peer's credits allow, and the
 * thread that polls posts the receives of all further messages again at once.
 *
 * <p>Used by the thread that uses the queue pair, unless stated otherwise.
 */
public final class LoopReceives {
    private final ReceivingPair pair;
    private final LoopCompletions queue;
    private final int number;
    private final int most;
    // Whether the thread that polls the queue also uses the queue pair; changed by that thread alone.
    private boolean isHome;
    // The loop that uses the queue pair if it is a different one; null while there is none.
    private volatile EventLoop loop;
    // Completions that arrived while another thread used the queue pair.
    private final Queue<StreamArrival> inbox = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inboxCount = new AtomicInteger();
    // Set by the thread that polls the queue when there is a message for which the inbox has no room.
    private volatile boolean overrun;
    // How the connection ended, while messages that arrived before may still be missing; null if there is nothing to be done.
    // Only the thread that uses the queue pair uses these two.
    private IOException pendingCause;
    private ConnectionEvent pendingEnd;

    /**
     * Creates an empty inbox.
     *
     * @param number the queue pair number that completions in the queue contain
     * @param most how many messages a peer that follows the protocol can send before this end has handled one of them
     */
    public LoopReceives(ReceivingPair pair, LoopCompletions queue, int number, int most) {
        this.pair = pair;
        this.queue = queue;
        this.number = number;
        this.most = most;
    }

    /** Returns the loop that polls the queue. Any thread. */
    public IoEventLoop loop() {
        return queue.loop();
    }

    /** Returns the queue pair number that completions in the queue contain. Any thread. */
    int number() {
        return number;
    }

    /** Returns whether the thread that polls the queue also uses the queue pair; called on that thread. */
    boolean isHome() {
        return isHome;
    }

    // ---- called on the thread that polls the queue ----

    /**
     * Stores a completion for the thread that uses the queue pair, which is a different one. If the peer has ignored its credits,
     * this message and all later ones are dropped, and that thread ends the connection.
     */
    void forward(StreamArrival arrival) {
        if (overrun) {
            queue.repost(arrival.slot());
            return;
        }
        if (inboxCount.get() < most) {
            inboxCount.incrementAndGet();
            inbox.add(withoutScarceReceive(arrival));
        } else {
            overrun = true;
            queue.repost(arrival.slot());
        }
        onUser(this::takeForwarded);
    }

    /**
     * Moves a message out of its receive if other connections may need the receive before the message is taken.
     *
     * @return the message, which still has its receive if there is no memory or the receive could not be posted
     */
    private StreamArrival withoutScarceReceive(StreamArrival arrival) {
        LoopCompletions.Owner receives = queue.receives();
        if (arrival.status() != 0 || !receives.isCrowded()) {
            return arrival;
        }
        try {
            boolean isEmpty = arrival.bytes() <= 0 || arrival.opcode() == CompletionOpcode.RECV_RDMA_WITH_IMM.code();
            ByteBuf message = null;
            if (isEmpty) {
                receives.repost(arrival.slot());
            } else {
                message = receives.move(arrival.slot(), arrival.bytes());
            }
            return arrival.withoutReceive(message);
        } catch (RpmaException | OutOfMemoryError e) {
            TransportLogger.LOGGER.debug("A message for {} keeps its receive.", pair, e);
            return arrival;
        }
    }

    /** Ends the connection, which another thread uses. If that thread changes, {@link #enter} ends it. */
    void breakWith(IOException cause) {
        onUser(() -> pair.breakWith(cause));
    }

    /**
     * Called when the loop that polls the queue ends. If another loop uses the connection, it can receive nothing any more, and
     * ends.
     */
    void loopEnded() {
        if (!isHome) {
            breakWith(queue.failure());
        }
    }

    private void onUser(Runnable task) {
        EventLoop user = loop;
        if (user == null) {
            // The loop that takes over the queue pair checks the inbox.
            return;
        }
        execute(user, task, true);
    }

    // ---- called on the thread that uses the queue pair ----

    /** Handles the completions that have arrived, without notifying the listener. */
    public void take() {
        if (isHome) {
            queue.drain();
        } else {
            takeForwarded();
        }
    }

    /** Handles the completions that another thread has stored for this one. Returns whether there were any. */
    boolean takeForwarded() {
        StreamArrival arrival = inbox.poll();
        boolean any = arrival != null;
        while (arrival != null) {
            inboxCount.decrementAndGet();
            try {
                pair.handle(arrival);
            } catch (Throwable e) {
                // The other completions have to be handled as well.
                pair.cannotTake(e);
            }
            arrival = inbox.poll();
        }
        if (overrun && pair.broken() == null) {
            pair.breakWith(new ProtocolException("The peer broke the stream protocol: it sent more messages than its credits"
                + " allow, before any of them was handled; the connection is closed"));
        }
        return any;
    }

    /** Called on an event loop when that loop begins to use the queue pair. */
    public void enter(EventLoop to) {
        if (to == queue.loop()) {
            isHome = true;
        } else {
            loop = to;
            // Completions may have arrived before the other loop knew this queue pair, and that loop may be asleep since.
            queue.wake();
        }
        if (takeForwarded()) {
            // What these messages call for, such as the credits of grants, is sent when the listener is notified.
            execute(to, () -> { }, true);
        }
        IOException failure = queue.failure();
        if (failure != null) {
            // No thread was notified of the failure when it occurred, or of the end of the other loop.
            execute(to, () -> pair.breakWith(failure), true);
        }
        if ((pendingCause != null || pendingEnd != null) && !endAfterDraining()) {
            execute(to, this::endPending, false);
        }
    }

    /** Called on the event loop that used the queue pair, when the loop stops using it. */
    public void leave() {
        isHome = false;
        loop = null;
    }

    /**
     * Defers the event that ended the connection to a later call of {@link QueuePair#end}, if another thread holds messages that
     * arrived before.
     *
     * @return whether the event is deferred
     */
    public boolean endsLater(ConnectionEvent event) {
        if (isHome) {
            return false;
        }
        pendingEnd = event;
        if (loop == null || endAfterDraining()) {
            return true;
        }
        pendingEnd = null;
        return false;
    }

    /**
     * Ends the connection after the messages that arrived before, if another thread holds some of them.
     *
     * @param cause why the connection ends
     * @return whether another thread may hold messages, so that the connection ends later
     */
    public boolean breaksLater(IOException cause) {
        if (isHome || loop == null) {
            return false;
        }
        if (pendingEnd != null) {
            return true;
        }
        pendingCause = cause;
        if (endAfterDraining()) {
            return true;
        }
        pendingCause = null;
        return false;
    }

    /**
     * Lets the thread that polls the queue forward the messages that have arrived, and then has the connection ended by the
     * thread that uses the queue pair by then.
     *
     * @return false if no other thread holds messages
     */
    private boolean endAfterDraining() {
        return !isHome && queue.onLoop(() -> {
            queue.drain();
            EventLoop user = loop;
            if (user != null) {
                // The tasks for what has been drained run before this one.
                execute(user, this::endPending, false);
            }
        });
    }

    private void endPending() {
        IOException cause = pendingCause;
        ConnectionEvent event = pendingEnd;
        pendingCause = null;
        pendingEnd = null;
        if (cause != null) {
            pair.touch();
            take();
            pair.breakWith(cause);
            pair.settle();
        }
        if (event != null) {
            pair.end(event);
        }
    }

    /**
     * Runs a task on a loop that uses the queue pair, unless the loop does not use it any more by then. In that case the next
     * loop finds what there is to do when it begins.
     *
     * @param notifies whether the listener has to be notified of what the task changes
     */
    private void execute(EventLoop user, Runnable task, boolean notifies) {
        boolean accepted = EventLoops.execute(user, () -> {
            if (user == queue.loop() ? !isHome : loop != user) {
                return;
            }
            try {
                if (notifies) {
                    pair.touch();
                }
                task.run();
                if (notifies) {
                    pair.settle();
                }
            } catch (Throwable e) {
                pair.cannotTell(e);
            }
        });
        if (!accepted) {
            // That loop has ended, and has closed the queue pair; close() takes the receives out of the inbox.
            TransportLogger.LOGGER.debug("{} is on a loop that has ended.", pair);
        }
    }

    /** Stops the delivery of completions to the queue pair, which has been destroyed. */
    public void close() {
        if (!queue.remove(pair)) {
            takeForwarded();
        }
    }
}
