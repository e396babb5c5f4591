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
package io.rpma.tcp;

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.List;

/**
 * A completion queue. A thread that polls it while it is empty drives the source of its completions: its connection, or the
 * connections of its shared receive queue.
 */
final class TcpCompletionQueue implements CompletionQueue {
    private static final int ARMED = 1;
    private static final int FIRED = 0;

    private final CompletionRing ring;
    private final int size;
    private final Alarm alarm;
    private final boolean alarmShared;
    private final SendQueue sends;
    private final Driven driven;
    // The queue of the shared receive queue, whose polling thread drives the connection of this queue; null if there is none.
    private final TcpCompletionQueue receivesIn;
    // Stored under the lock of the alarm.
    private volatile int state = ARMED;
    private volatile boolean overflowed;
    private volatile boolean closed;
    // The thread in look(), which consumes the event of the completions that it adds itself, and whether it has added any. Such
    // an event does not need the descriptor.
    private Thread looking;
    private boolean found;
    // The thread in pollWithoutEvent(), which promises to call consumeEvent() before it waits, and whether the last call was one
    // of that method. The completions that it adds itself cause no event here. They cause events of other queues at its next
    // call, or at the end of this one if it may wait afterwards.
    private Thread promising;
    private Thread promisor;
    // Whether that thread has called consumeEvent() since, so that it waits if the next poll finds nothing, and whether a poll is
    // not such a last one.
    private boolean waitsNext;
    private boolean patient;
    // The queues with completions that the thread in pollWithoutEvent() has added, and which have caused no event yet.
    private final List<TcpCompletionQueue> unsignalled = new ArrayList<>();
    private boolean isUnsignalled;

    /** The source of the completions. */
    interface Driven {
        /** Does all work that is possible without waiting. */
        void drive();

        /** Returns whether the descriptor of the queue is readable while a socket is, and not only for completions. */
        default boolean wakesForSocket() {
            return true;
        }
    }

    /**
     * Creates a queue.
     *
     * @param alarm the alarm that provides its descriptor
     * @param alarmShared whether another queue uses the same alarm
     * @param sends the send queue whose slots polling frees, {@code null} if there is none
     * @param receivesIn the queue of the shared receive queue of the connection, {@code null} if there is none
     */
    TcpCompletionQueue(int size, Alarm alarm, boolean alarmShared, SendQueue sends, Driven driven,
            TcpCompletionQueue receivesIn) {
        ring = new CompletionRing(size);
        this.size = size;
        this.alarm = alarm;
        this.alarmShared = alarmShared;
        this.sends = sends;
        this.driven = driven;
        this.receivesIn = receivesIn;
    }

    Alarm alarm() {
        return alarm;
    }

    @Override
    public int fd() {
        return alarm.fd();
    }

    @Override
    public int fd(Runnable task) {
        if (alarmShared || driven.wakesForSocket()) {
            return fd();
        }
        alarm.run(task);
        return Connection.NO_DESCRIPTOR;
    }

    /** Returns the descriptor, or reports that it cannot be created. */
    int madeFd() throws RpmaException {
        return alarm.made().fd();
    }

    /** Adds a completion; returns whether there was room. */
    boolean add(long context, int status, int opcode, int flags, long length, int immediate, int queuePair, long number) {
        boolean added = ring.add(context, status, opcode, flags, length, immediate, queuePair, number);
        if (!added && !overflowed) {
            overflowed = true;
            TcpLog.log(RpmaLog.Level.ERROR, "a completion queue of " + size + " entries has overflowed");
        }
        // The volatile store of the entry in add() precedes this volatile load. The owner stores ARMED and then polls: either
        // this thread finds the queue armed, or the owner's poll finds the entry.
        if (state == ARMED) {
            // Only this thread stores its own reference, so a race with another thread cannot make these comparisons true.
            Thread thread = Thread.currentThread();
            if (looking == thread) {
                found = true;
            } else if (receivesIn != null && receivesIn.promising == thread) {
                receivesIn.signalLater(this);
            } else if (promising != thread) {
                fire();
            }
        }
        return added;
    }

    /** Notes that another queue has a completion. The thread in {@link #pollWithoutEvent} calls this method. */
    private void signalLater(TcpCompletionQueue queue) {
        if (!queue.isUnsignalled) {
            queue.isUnsignalled = true;
            unsignalled.add(queue);
        }
    }

    /** Causes the events of the other queues whose completions have not been polled meanwhile. */
    private void signalOthers() {
        for (int i = unsignalled.size() - 1; i >= 0; i--) {
            TcpCompletionQueue queue = unsignalled.remove(i);
            queue.isUnsignalled = false;
            if (!queue.ring.isEmpty()) {
                queue.fire();
            }
        }
    }

    /** Causes all events that a poll has left to later calls: it throws an exception, and the caller may not poll again. */
    private void signalAll() {
        if (!ring.isEmpty()) {
            fire();
        }
        signalOthers();
    }

    private void fire() {
        synchronized (alarm) {
            if (state == ARMED) {
                state = FIRED;
                alarm.raise();
            }
        }
    }

    /**
     * Drives the source for a thread that consumes the resulting event at once. Returns whether there is an event. If the work
     * throws an exception, as a log of the application may, nobody learns of the event here, so the descriptor reports it.
     */
    private boolean look() {
        found = false;
        looking = Thread.currentThread();
        boolean done = false;
        try {
            driven.drive();
            done = true;
        } finally {
            looking = null;
            if (!done && found) {
                fire();
            }
        }
        return found;
    }

    @Override
    public boolean consumeEvent() throws RpmaException {
        if (alarmShared) {
            throw TcpLog.failure(RpmaError.SHARED_CHANNEL, "both completion queues of this connection share one descriptor:"
                + " use Connection.consumeCompletionEvent");
        }
        checkOpen();
        signalOthers();
        if (keepPromise()) {
            return consume(null);
        }
        // The descriptor may be readable because of a socket. Only its data shows whether there is an event.
        return !hasFired() && look() || consume(null);
    }

    /**
     * Notes that the calling thread consumes the events of this queue, and waits if its next poll finds nothing.
     *
     * @return whether the queue was polled by {@link #pollWithoutEvent}, whose callers promise to consume the events and to poll
     *     once more before they wait; if not, this call has no effect
     */
    boolean keepPromise() {
        if (promisor == null) {
            return false;
        }
        promisor = null;
        waitsNext = true;
        return true;
    }

    boolean hasFired() {
        return state == FIRED;
    }

    /** Consumes an event of the descriptor shared with another queue. Returns whether this queue had fired. */
    boolean consume(TcpCompletionQueue other) {
        if (state != FIRED) {
            return false;
        }
        synchronized (alarm) {
            state = ARMED;
            if (other == null || !other.hasFired()) {
                alarm.clear();
            }
        }
        return true;
    }

    @Override
    public int poll(WorkCompletions completions) throws RpmaException {
        promisor = null;
        return take(completions, null);
    }

    @Override
    public int pollWithoutEvent(WorkCompletions completions) throws RpmaException {
        promisor = Thread.currentThread();
        return take(completions, promisor);
    }

    @Override
    public boolean pollsBySystemCalls() {
        return true;
    }

    /** Returns whether the thread that polls will certainly poll again before it waits. */
    boolean isPatient() {
        return patient;
    }

    /** Returns whether the calling thread polls this queue, and will certainly do so again before it waits. */
    boolean isPromised() {
        return promisor == Thread.currentThread() && patient;
    }

    private int take(WorkCompletions completions, Thread promise) throws RpmaException {
        if (closed || overflowed || completions == null) {
            signalOthers();
            checkOpen();
            if (completions == null) {
                throw TcpLog.failure(RpmaError.INVALID, "poll: the batch that receives the completions is null");
            }
            throw overflow();
        }
        signalOthers();
        patient = promise != null && !waitsNext;
        waitsNext = false;
        int count = ring.take(completions, sends);
        if (count == 0) {
            promising = promise;
            boolean done = false;
            try {
                driven.drive();
                done = true;
            } finally {
                promising = null;
                if (!done) {
                    signalAll();
                }
            }
            if (overflowed) {
                signalAll();
                throw overflow();
            }
            count = ring.take(completions, sends);
            if (promise != null && !ring.isEmpty()) {
                // The batch of the caller is full.
                fire();
            }
            if (!patient) {
                // The caller has consumed the event already, and waits if this poll has found nothing.
                signalOthers();
            }
        }
        return count;
    }

    private RpmaException overflow() {
        return TcpLog.failure(RpmaError.PROVIDER, "completion queue overflow: more than " + size + " completions were not"
            + " polled; a device would have lost the rest silently. Configure as many entries as the send and the receive queue"
            + " have together (ConnectionConfig.completionQueueSize, SharedReceiveQueueConfig.receiveCompletionQueueSize), or"
            + " poll earlier");
    }

    private void checkOpen() throws RpmaException {
        if (closed) {
            throw TcpLog.failure(RpmaError.INVALID, "the completion queue is closed");
        }
    }

    void close() {
        closed = true;
        alarm.close();
    }
}
