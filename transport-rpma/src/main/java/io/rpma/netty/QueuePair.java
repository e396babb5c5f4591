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
import io.netty.util.concurrent.FastThreadLocal;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.channels.ClosedChannelException;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection: its events, and how it ended. What travels over it is the subclass's. Knows nothing of channels and
 * pipelines.
 *
 * <p>Used by one event loop at a time.
 */
abstract class QueuePair {
    /** Told what became possible. Called at the end of a batch, so that it may close the queue pair. */
    interface Listener {
        /** The connection is established, and what the peer said in its private data is good. */
        void established();

        /** Messages arrived, or the connection ended: {@link #broken}. */
        void readable();

        /** Work requests can be posted again. */
        void writable();

        /** Telling this listener has failed: it ends the connection at once. Logged already. */
        void failed();

        /** A work request was posted that the listener has not asked for: a completion is to be expected. */
        void posted();

        /**
         * Work was flushed, and the event that tells why has not come. Whoever has a clock and no other bound calls
         * {@link #eventIsOverdue()} after {@link #EVENT_MILLIS}.
         */
        void flushed();
    }

    /**
     * The end of a connection, which most of them have and few ask for: the trace would cost more than all the rest, and show
     * nothing but the event loop.
     */
    static final class Ended extends IOException {
        private static final long serialVersionUID = 1;

        Ended(String message) {
            super(message);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    /** This end has closed the connection. */
    static final class ClosedHere extends ClosedChannelException {
        private static final long serialVersionUID = 1;

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    /** How long after work was flushed the event that tells why may come: an iWARP device sends both within milliseconds. */
    static final long EVENT_MILLIS = 1_000;

    /** For those who take what is left and keep nothing of it: holds something only between a poll and the lines around it. */
    private static final FastThreadLocal<WorkCompletions> REST = new FastThreadLocal<>() {
        @Override
        protected WorkCompletions initialValue() {
            return new WorkCompletions(64);
        }
    };

    /** A connection has three events, and few that librpma does not know: one that has so many at once is not believed. */
    private static final int MOST_EVENTS = 32;

    final Fabric fabric;
    final boolean active;
    final RpmaChannelCounters counters;
    private final ConnectedEvent connecting = new ConnectedEvent();
    final InetSocketAddress localAddress;
    final InetSocketAddress remoteAddress;
    /** {@code null} once closed, as is the queue. */
    Connection connection;
    CompletionQueue queue;
    Listener listener;
    boolean established;
    ConnectionEvent terminal;
    IOException broken;
    /** How work was flushed, while no event has told why; else {@code null}. See {@link #failedBy}. */
    private IOException flushed;
    private boolean flushTold;

    /**
     * Takes a connection over.
     *
     * @param remote the address that was asked for, where the provider cannot tell
     * @param active whether this end asked for it
     * @param receives how many messages it can take before one has been read
     */
    QueuePair(Fabric fabric, Connection connection, InetSocketAddress remote, boolean active, int receives) {
        this.fabric = fabric;
        this.active = active;
        this.connection = connection;
        queue = connection.completionQueue();
        localAddress = connection.localAddress();
        InetSocketAddress known = connection.remoteAddress();
        remoteAddress = known != null ? known : remote;
        counters = RpmaMetrics.opened(receives);
        connecting.begin();
    }

    /**
     * Gives up what an attempt to open a connection has made.
     *
     * @param made the connection, or {@code null}
     * @param request what it was to be made of
     * @param why the reason; if giving up fails as well, that is added to it
     */
    static void abandon(Connection made, ConnectionRequest request, Exception why) {
        try {
            if (made != null) {
                made.close();
            }
        } catch (RpmaException | RuntimeException e) {
            why.addSuppressed(e);
        }
        try {
            request.close();
        } catch (RpmaException | RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    /** Returns this thread's batch for completions that are looked at on the spot. */
    static WorkCompletions rest() {
        return REST.get();
    }

    final RpmaChannelCounters counters() {
        return counters;
    }

    final void listener(Listener to) {
        listener = to;
    }

    final int eventFd() {
        return connection.eventFd();
    }

    final CompletionQueue completionQueue() {
        return queue;
    }

    final InetSocketAddress localAddress() {
        return localAddress;
    }

    final InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    final boolean isClosed() {
        return connection == null;
    }

    final boolean isEstablished() {
        return established;
    }

    /** Why the queue pair is of no further use, or {@code null}. What arrived before can still be read. */
    final IOException broken() {
        return broken;
    }

    final void breakWith(IOException cause) {
        if (broken == null) {
            broken = cause;
        }
    }

    /**
     * Ends the connection because a work request failed. That work was flushed says only that the queue pair is in the error
     * state. The reason is what an event tells: an iWARP device enters that state by itself when its peer disconnects, and
     * flushes what is posted before it tells of the disconnect.
     */
    final void failedBy(CompletionStatus status, IOException cause) {
        if (status != CompletionStatus.WR_FLUSH_ERR) {
            breakWith(cause);
        } else if (broken == null && terminal == null && flushed == null) {
            flushed = cause;
        }
    }

    /** Whether the queue pair takes no more work, although it is not known yet why. */
    final boolean isFlushed() {
        return flushed != null;
    }

    /** Whether work can be posted, as far as it is known. */
    final boolean isUsable() {
        return established && broken == null && flushed == null;
    }

    /** The event that should tell why work was flushed has not come: the flush itself is the reason. */
    final void eventIsOverdue() {
        if (connection == null || broken != null || flushed == null) {
            return;
        }
        drainEvents();
        if (connection != null && broken == null) {
            breakWith(flushed);
            listener.readable();
        }
    }

    /**
     * Takes the events that completions have overtaken, before anybody is told of these: the connection may just have been
     * established, or have ended in order. To be called after each batch.
     *
     * @return whether the queue pair is still open
     */
    final boolean takeOvertakenEvents() {
        if (established && flushed == null || broken != null) {
            return true;
        }
        drainEvents();
        if (connection == null) {
            return false;
        }
        if (flushed != null && broken == null && !flushTold) {
            flushTold = true;
            listener.flushed();
        }
        return true;
    }

    /** The event that ended the connection, or {@code null}. */
    final ConnectionEvent terminal() {
        return terminal;
    }

    // ---- events ----

    /** Takes the connection's events. A peer that makes them without end loses the connection, not this loop. */
    final void drainEvents() {
        for (int events = 0; connection != null; events++) {
            if (events == MOST_EVENTS) {
                breakWith(new ProtocolException("The peer made more than " + MOST_EVENTS + " events of one connection at once;"
                    + " the connection is closed"));
                listener.readable();
                return;
            }
            ConnectionEvent event;
            try {
                event = connection.nextEvent();
            } catch (RpmaException e) {
                if (e.error() == RpmaError.UNKNOWN) {
                    // An event of a kind that librpma itself does not know: it says nothing about this connection.
                    continue;
                }
                breakWith(e);
                listener.readable();
                return;
            }
            if (event == null) {
                return;
            }
            if (event == ConnectionEvent.ESTABLISHED) {
                establish();
            } else if (terminal == null && !endsLater(event)) {
                end(event);
            }
        }
    }

    private void establish() {
        if (established || broken != null) {
            return;
        }
        try {
            greeted();
        } catch (IOException e) {
            breakWith(e);
            listener.readable();
            return;
        }
        established = true;
        RpmaPath path = RpmaPath.of(fabric.provider());
        RpmaMetrics.addEstablished(path);
        if (connecting.shouldCommit()) {
            connecting.local = String.valueOf(localAddress);
            connecting.remote = String.valueOf(remoteAddress);
            connecting.fabric = fabric.toString();
            connecting.path = path.toString();
            connecting.active = active;
            connecting.commit();
        }
        listener.established();
    }

    /** Reads what the peer said in its private data, now that all of it is known. */
    abstract void greeted() throws IOException;

    /** The one place where the end of the connection is turned into a state. */
    final void end(ConnectionEvent event) {
        if (connection == null || terminal != null) {
            return;
        }
        terminal = event;
        // What completed before the end is still in the queue, and comes first.
        takeAll();
        if (broken == null) {
            broken = new Ended(reason(event));
        }
        listener.readable();
    }

    private String reason(ConnectionEvent event) {
        return switch (event) {
            case CLOSED -> closedReason();
            case LOST -> "Connection reset: the connection was lost, or the device removed";
            case REJECTED -> "Connection refused";
            case UNREACHABLE -> "Host is unreachable";
            default -> "Connection ended by the event " + event;
        };
    }

    /** What it means to users that the peer disconnected, died, or closed its end. */
    abstract String closedReason();

    // ---- completions ----

    /**
     * Polls the completion queue, and tells the listener.
     *
     * @return how many completions were handled
     */
    abstract int poll(WorkCompletions batch);

    /** Takes one batch, without telling the listener; -1 if the queue itself failed. */
    final int take(WorkCompletions batch) {
        int n;
        try {
            n = queue.poll(batch);
        } catch (RpmaException e) {
            if (broken != null) {
                return 0;
            }
            breakWith(e);
            return -1;
        }
        for (int i = 0; i < n; i++) {
            handle(batch, i);
        }
        return n;
    }

    /** Takes one completion, without telling the listener. */
    final void handle(WorkCompletions batch, int index) {
        counters.completions++;
        int code = batch.statusCode(index);
        if (code == 0) {
            completed(batch, index);
        } else {
            CompletionStatus status = CompletionStatus.of(code);
            counters.failed(status);
            failed(batch.context(index), status, batch.queuePairNumber(index));
        }
    }

    /**
     * Takes the completions that have come, without telling the listener, until there is none or the connection is broken. A
     * peer that goes on sending makes more of them meanwhile; those are left to a later turn.
     */
    final void takeAll() {
        WorkCompletions rest = rest();
        int left = mostCompletions();
        while (connection != null && broken == null && left > 0) {
            int n = take(rest);
            if (n <= 0) {
                break;
            }
            left -= n;
        }
        if (connection != null && broken == null) {
            takeElsewhere();
        }
    }

    /** Takes the completions of this connection that come to a queue which is not its own. */
    void takeElsewhere() {
        // There is none.
    }

    /** Takes what has been sent already, after a flush, if that spares the loop from polling for it. Tells nobody. */
    void takeSent() {
        // The queue is polled anyway.
    }

    /** Whether a completion is to be expected in the connection's own queue, or the listener to be told of one. */
    boolean awaitsCompletions() {
        return true;
    }

    /** Is on an event loop from now on, and used by its thread alone; on that loop. */
    void enter(EventLoop loop) {
        // All that it has goes with it.
    }

    /** Leaves the event loop that it was on; on that loop. */
    void leave() {
        // All that it has goes with it.
    }

    /**
     * Has the event that ended the connection dealt with later, by {@link #end}, because another thread has what arrived before.
     *
     * @return whether that is so
     */
    boolean endsLater(ConnectionEvent event) {
        return false;
    }

    /** How many completions can wait to be polled: there are not more of what came before a moment. */
    abstract int mostCompletions();

    /** A work request has succeeded. */
    abstract void completed(WorkCompletions batch, int index);

    /** The one place where a failed work request is turned into a state. */
    abstract void failed(long context, CompletionStatus status, int queuePair);

    // ---- the end ----

    /** Tells the peer that nothing follows, if there is a way to say it. */
    abstract void finish();

    /** Whether {@link #finish} has been said. */
    abstract boolean isFinished();

    /** Whether every completion that was asked for has come. */
    abstract boolean isSettled();

    /** Whether everything that was sent has been delivered. */
    abstract boolean isDelivered();

    /**
     * Destroys the queue pair and releases its buffers. Its descriptors must not be watched any more. Messages that arrived and
     * were not read are lost. Waits for nothing: what the peer may still be writing to is released later ({@link LimboMemory}).
     */
    final void close() {
        Connection current = connection;
        if (current == null) {
            return;
        }
        closing();
        connection = null;
        queue = null;
        try {
            current.close();
        } catch (RpmaException e) {
            breakWith(e);
        }
        release(current::isQuiescent);
        RpmaMetrics.ended(counters);
        ClosedEvent event = new ClosedEvent();
        if (event.shouldCommit()) {
            event.local = String.valueOf(localAddress);
            event.remote = String.valueOf(remoteAddress);
            event.reason = endReason();
            event.bytesSent = counters.bytesSent;
            event.bytesReceived = counters.bytesReceived;
            event.commit();
        }
    }

    /** Why the connection ended, for people. */
    abstract String endReason();

    /** Is about to be destroyed. */
    void closing() {
        // What this connection alone has ends with it.
    }

    /**
     * Releases the buffers: the queue pair is destroyed, and uses none any more.
     *
     * @param quiescent whether the peer can no longer write to the buffers of receives; until then they are kept
     */
    abstract void release(BooleanSupplier quiescent);
}
