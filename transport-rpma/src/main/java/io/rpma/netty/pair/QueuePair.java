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

package io.rpma.netty.pair;

import io.netty.channel.EventLoop;
import io.rpma.CompletionQueue;
import io.rpma.CompletionStatus;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection: its events, and how it ended. Subclasses implement what is transferred over it. This class does not
 * depend on channels and pipelines.
 *
 * <p>Used by one event loop at a time.
 */
public abstract class QueuePair {
    /** How long after a flush the event that gives the reason may arrive: an iWARP device delivers both within milliseconds. */
    private static final long EVENT_MILLIS = 1_000;

    /**
     * How long after the disconnect of the peer the completions of work that the peer has acknowledged may arrive. On an
     * InfiniBand or RoCE device, disconnects and acknowledgements come by different ways: the connection manager's, and the queue
     * pair's.
     */
    private static final long COMPLETION_MILLIS = 200;

    /**
     * A connection has three events, and a few of kinds that librpma does not define. A connection with this many events at once
     * is closed.
     */
    private static final int MOST_EVENTS = 32;

    public final UserTypes types;
    public final Fabric fabric;
    public final boolean active;
    public final ChannelCounts counters;
    // Null once the queue pair is established.
    private ConnectedEvent connecting = new ConnectedEvent();
    public final InetSocketAddress localAddress;
    public final InetSocketAddress remoteAddress;
    /** {@code null} once closed; so is the queue. */
    public Connection connection;
    public CompletionQueue queue;
    public QueuePairListener listener;
    public boolean established;
    public ConnectionEvent terminal;
    public IOException broken;
    /** Why work failed, while no event has given the reason; otherwise {@code null}. See {@link #failedBy}. */
    protected IOException flushed;
    private boolean flushTold;
    /** Whether the peer has disconnected and the completions of work that it may have acknowledged have not arrived. */
    private boolean awaitsAcknowledged;

    /**
     * Takes a connection over.
     *
     * @param types what the queue pair needs of the public types
     * @param remote the address that was requested, for providers that do not report it
     * @param active whether this end requested the connection
     * @param receives the number of messages that can be received before one has been read
     */
    protected QueuePair(UserTypes types, Fabric fabric, Connection connection, InetSocketAddress remote, boolean active,
            int receives) {
        this.types = types;
        this.fabric = fabric;
        this.active = active;
        this.connection = connection;
        queue = connection.completionQueue();
        localAddress = connection.localAddress();
        InetSocketAddress known = connection.remoteAddress();
        remoteAddress = known != null ? known : remote;
        counters = OpenPairs.opened(receives);
        connecting.begin();
    }

    public final ChannelCounts counters() {
        return counters;
    }

    public final void listener(QueuePairListener to) {
        listener = to;
    }

    public final CompletionQueue completionQueue() {
        return queue;
    }

    public final InetSocketAddress localAddress() {
        return localAddress;
    }

    public final InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    public final boolean isClosed() {
        return connection == null;
    }

    public final boolean isEstablished() {
        return established;
    }

    /** Returns why the queue pair can no longer be used, or {@code null}. Messages that arrived before can still be read. */
    public final IOException broken() {
        return broken;
    }

    public final void breakWith(IOException cause) {
        if (broken == null) {
            broken = cause;
        }
    }

    /**
     * Ends the connection because a work request failed. A flush only means that the queue pair is in the error state, and an
     * exceeded retry counter that the peer does not answer; the reason is given by an event. An iWARP device enters that state by
     * itself when its peer disconnects, and flushes the posted work before it reports the disconnect. With the provider soft, a
     * request that waits for a receive fails as soon as the peer has closed, which its event reports a little later.
     */
    public final void failedBy(CompletionStatus status, IOException cause) {
        if (status != CompletionStatus.WR_FLUSH_ERR && status != CompletionStatus.RETRY_EXC_ERR) {
            breakWith(cause);
        } else if (!isExpected(status)) {
            flushed = cause;
        }
    }

    /** Returns whether a failure with this status is the consequence of something that is known already. */
    public final boolean isExpected(CompletionStatus status) {
        return status == CompletionStatus.WR_FLUSH_ERR && (broken != null || terminal != null || flushed != null);
    }

    /** Returns whether work can be posted, as far as is known. */
    public final boolean isUsable() {
        return established && broken == null && !isEnding();
    }

    /** Returns whether the connection is about to break, but the reason or the last completions have not arrived. */
    public final boolean isEnding() {
        return broken == null && (flushed != null || terminal != null);
    }

    /**
     * Returns how many milliseconds after {@link QueuePairListener#ending} the event or the completions that are missing are
     * overdue.
     */
    public final long overdueMillis() {
        return awaitsAcknowledged ? COMPLETION_MILLIS : EVENT_MILLIS;
    }

    /**
     * Called when the event or the completions that are missing have not arrived in time. Without the event that gives the reason
     * of a failure, the failure itself becomes the reason. Work without a completion fails.
     */
    public final void endIsOverdue() {
        if (connection == null || !isEnding()) {
            return;
        }
        if (awaitsAcknowledged) {
            takeAll();
            ended();
        } else {
            drainEvents();
            if (connection == null || broken != null) {
                return;
            }
            breakWith(flushed);
        }
        listener.readable();
    }

    /**
     * Handles events that completions have overtaken, before the listener is notified of these completions: the connection may
     * just have been established, or have ended in order. Must be called after each batch.
     *
     * @return whether the queue pair is still open
     */
    public final boolean takeOvertakenEvents() {
        if (awaitsAcknowledged && !awaitsOutcomes()) {
            ended();
        }
        if (established && flushed == null || broken != null) {
            return true;
        }
        drainEvents();
        if (connection == null) {
            return false;
        }
        if (flushed != null && broken == null && !flushTold) {
            flushTold = true;
            listener.ending();
        }
        return true;
    }

    /** Returns the event that ended the connection, or {@code null}. */
    public final ConnectionEvent terminal() {
        return terminal;
    }

    // ---- events ----

    /**
     * Handles the connection's events, up to the one that ends it. If a peer causes too many of them, its connection is closed,
     * so that it cannot block this loop.
     *
     * <p>The event that establishes an accepted connection is the last one that is handled as well: the connection is then
     * registered again, by its channel, and the registration reports the events that have not been handled.
     */
    public final void drainEvents() {
        for (int events = 0; connection != null && terminal == null; events++) {
            if (events == MOST_EVENTS) {
                breakWith(new ProtocolException("The peer caused more than " + MOST_EVENTS + " events of one connection at once;"
                    + " the connection is closed"));
                listener.readable();
                return;
            }
            ConnectionEvent event;
            try {
                event = connection.nextEvent();
            } catch (RpmaException e) {
                if (e.error() == RpmaError.UNKNOWN) {
                    // An event of a kind that librpma does not define has no meaning for this connection.
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
                if (!active) {
                    return;
                }
            } else if (!endsLater(event)) {
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
        OpenPairs.addEstablished(fabric.provider());
        connecting.commit(this);
        connecting = null;
        listener.established();
    }

    /** Reads the peer's private data, which is complete now. */
    protected abstract void greeted() throws IOException;

    /**
     * Records how the connection ended. This is the only method that does so. If the peer has disconnected and may have
     * acknowledged work whose completions it has overtaken, the connection is broken only when these have arrived or are overdue:
     * what has been delivered must not be reported as failed.
     */
    public final void end(ConnectionEvent event) {
        if (connection == null || terminal != null) {
            return;
        }
        terminal = event;
        if (!established) {
            // The provider may know more than the event says.
            breakWith(connection.failure());
        }
        // Completions from before the end are still in the queue, and are handled first.
        takeAll();
        awaitsAcknowledged = event == ConnectionEvent.CLOSED && established && broken == null && flushed == null
            && awaitsOutcomes();
        if (awaitsAcknowledged) {
            listener.ending();
        } else {
            ended();
        }
        listener.readable();
    }

    /** Breaks the queue pair because of the event that ended the connection. */
    private void ended() {
        awaitsAcknowledged = false;
        if (broken == null) {
            broken = new StacklessIOException(
                terminal == ConnectionEvent.CLOSED ? closedReason() : EndReasons.of(terminal));
        }
    }

    /** Returns whether work is under way whose outcome is reported to its user. */
    protected abstract boolean awaitsOutcomes();

    /** Returns the message for users when the peer has disconnected, died, or closed its end. */
    protected abstract String closedReason();

    // ---- completions ----

    /**
     * Polls the completion queue and notifies the listener.
     *
     * @return the number of completions that were handled
     */
    public abstract int poll(WorkCompletions batch);

    /** Handles one batch without notifying the listener. Returns -1 if the queue itself failed. */
    public final int take(WorkCompletions batch) {
        int n;
        try {
            n = ProviderCalls.pollWithoutEvent(queue, batch);
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

    /** Handles one completion without notifying the listener. */
    public final void handle(WorkCompletions batch, int index) {
        counters.completions++;
        int code = batch.statusCode(index);
        if (code == 0) {
            completed(batch, index);
        } else {
            CompletionStatus status = CompletionStatus.of(code);
            counters.failed(status);
            if (awaitsAcknowledged) {
                // Work that fails after the disconnect has not been acknowledged, nor has any that was posted after it.
                ended();
            }
            failed(batch.context(index), status, batch.queuePairNumber(index));
        }
    }

    /**
     * Handles the pending completions, without notifying the listener, until there are no more or the connection is broken. A
     * peer that continues to send causes more of them meanwhile; those are left to a later turn.
     */
    public final void takeAll() {
        WorkCompletions rest = ThreadBatch.get();
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

    /** Handles the completions of this connection that arrive in a queue other than its own. */
    protected void takeElsewhere() {
        // All completions arrive in the connection's own queue.
    }

    /**
     * Handles send completions that have arrived already, after a flush, if that saves the loop from polling for them. Does not
     * notify the listener.
     */
    public void takeSent() {
        // The queue is polled in any case.
    }

    /**
     * Returns whether a completion is expected in the connection's own queue, or the listener has not been notified of one yet.
     */
    public boolean awaitsCompletions() {
        return true;
    }

    /** Returns what takes the messages while the channel is in a backlog, or {@code null} if they can stay where they are. */
    public BacklogMessages inBacklog() {
        return null;
    }

    /** Called on an event loop when that loop begins to use the queue pair; from then on only its thread uses it. */
    public void enter(EventLoop loop) {
        // Nothing depends on the loop.
    }

    /** Called on the event loop that used the queue pair, when the loop stops using it. */
    public void leave() {
        // Nothing depends on the loop.
    }

    /**
     * Defers the event that ended the connection to a later call of {@link #end}, if another thread holds messages that arrived
     * before.
     *
     * @return whether the event is deferred
     */
    protected boolean endsLater(ConnectionEvent event) {
        return false;
    }

    /** Returns the number of completions that can wait to be polled. At any moment there are no more than this. */
    protected abstract int mostCompletions();

    /** Called when a work request has succeeded. */
    protected abstract void completed(WorkCompletions batch, int index);

    /** Called when a work request has failed. This is the only method that turns a failure into a state. */
    protected abstract void failed(long context, CompletionStatus status, int queuePair);

    // ---- the end ----

    /** Signals the end of this end's data to the peer, if the protocol has a message for it. */
    public abstract void finish();

    /** Returns whether {@link #finish} has sent that signal. */
    public abstract boolean isFinished();

    /** Returns whether every requested completion has arrived. */
    public abstract boolean isSettled();

    /** Returns whether all sent data has been delivered. */
    public abstract boolean isDelivered();

    /**
     * Destroys the queue pair and releases its buffers. Its descriptors must not be watched any more. Messages that arrived and
     * were not read are lost. Does not wait: memory that the peer may still be writing to is released later
     * ({@link LimboMemory}).
     */
    public final void close() {
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
        OpenPairs.ended(counters);
        ClosedEvent.commit(this);
    }

    /** Returns the reason for the end of the connection, for people. */
    protected abstract String endReason();

    /** Called before the queue pair is destroyed. */
    protected void closing() {
        // Nothing is shared with other connections.
    }

    /**
     * Releases the buffers. The queue pair has been destroyed and uses none any more.
     *
     * @param quiescent returns whether the peer can no longer write to the receive buffers; until then they are kept
     */
    protected abstract void release(BooleanSupplier quiescent);
}
