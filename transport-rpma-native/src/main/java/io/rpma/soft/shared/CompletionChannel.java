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
package io.rpma.soft.shared;

import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Memory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The descriptor that one completion queue, or the two queues of a connection, make readable ({@code struct
 * ibv_comp_channel}). The polling thread uses it; any thread may call {@link #watch}, {@link #wake} and {@link #retainEvent}.
 *
 * <p>The descriptor of a <i>deferred</i> channel is created when the owner of its one queue requests it ({@link #watch}). Until
 * then the queue is {@link Doorbell#UNWATCHED} instead of armed, and no firing writes anything.
 *
 * <p>A queue that fires does so exactly once until its owner arms it again, and every firing writes 1 to the descriptor. The
 * armed word and the write are two steps of another process, which may be killed between them. The owner therefore compares the
 * number of firings that it has observed with the sum of the counts that it has read: while the sum is smaller, a write may still
 * follow.
 */
public final class CompletionChannel {
    private final boolean deferred;
    // Null until the descriptor of a deferred channel is created, which happens under the lock of this object.
    private volatile EventPipe event;
    private boolean closed;
    // The counts that wake(long) wrote without a firing.
    private final AtomicLong woken = new AtomicLong();
    private long fired;
    private long read;

    /** Sends the descriptor to those who signal it. */
    public interface Lender {
        /**
         * Called before the queue is armed.
         *
         * @throws RpmaException if that fails; the descriptor is then not used
         */
        void lend(EventPipe event) throws RpmaException;
    }

    /** Creates a channel with its descriptor. */
    public CompletionChannel() throws RpmaException {
        this(EventPipe.create());
    }

    private CompletionChannel(EventPipe event) {
        this.event = event;
        deferred = event == null;
    }

    /** Creates a channel whose descriptor is created when it is requested. */
    public static CompletionChannel deferred() {
        return new CompletionChannel((EventPipe) null);
    }

    /** Returns whether the descriptor was not created together with the channel. */
    public boolean isDeferred() {
        return deferred;
    }

    /** Returns the descriptor of a channel that is not deferred. */
    public EventPipe event() {
        return event;
    }

    /** Returns the descriptor of a channel that is not deferred. */
    public int fd() {
        return event.fd();
    }

    /**
     * Returns the descriptor of a deferred channel. The first call creates it, and arms the queue unless it has fired already;
     * the descriptor is then readable.
     *
     * @param armed the address of the queue's armed word
     * @param lender sends the descriptor to the other end of the connection
     * @return the descriptor, -1 if the channel is closed and never had one
     */
    public synchronized int watch(long armed, Lender lender) throws RpmaException {
        if (event != null) {
            return event.fd();
        }
        if (closed) {
            return -1;
        }
        EventPipe made = EventPipe.create();
        boolean lent = false;
        try {
            lender.lend(made);
            lent = true;
        } finally {
            if (!lent) {
                made.release();
            }
        }
        // A thread that finds the queue armed also finds the descriptor (row M56 of docs/memory-order.md).
        event = made;
        if (!Memory.casInt(armed, Doorbell.UNWATCHED, Doorbell.ARMED)) {
            made.signal();
        }
        return made.fd();
    }

    /** Lends the descriptor of a deferred channel, if there is one and it is open. */
    public synchronized void lend(Lender lender) throws RpmaException {
        if (deferred && event != null && !closed) {
            lender.lend(event);
        }
    }

    /** Returns the descriptor, with the caller as a further user; {@code null} if there is none, or if it is closed. */
    EventPipe retainEvent() {
        EventPipe pipe = event;
        return pipe != null && pipe.tryRetain() ? pipe : null;
    }

    /**
     * Consumes the event of a queue and arms it again.
     *
     * @param armed the address of the queue's armed word
     * @param other the address of the armed word of the other queue of this channel, 0 if there is none
     * @return whether the queue had fired
     */
    public boolean consume(long armed, long other) {
        return event != null ? consumeWatched(armed, other) : consumeUnwatched(armed, other);
    }

    /** Consumes the event of the one queue of a deferred channel, unless another thread has just requested the descriptor. */
    private synchronized boolean consumeUnwatched(long armed, long other) {
        if (event != null) {
            return consumeWatched(armed, other);
        }
        boolean hasFired = hasFired(armed);
        if (hasFired) {
            // The fence orders the store of the word before the owner's next poll, as in consumeWatched(): either the poll finds
            // the entry, or its producer finds that the queue has not fired (rows M5 to M10, M12 and M62 of
            // docs/memory-order.md).
            Memory.putIntVolatile(armed, Doorbell.UNWATCHED);
            Memory.fullFence();
        }
        return hasFired;
    }

    private boolean consumeWatched(long armed, long other) {
        long count = 0;
        if ((hasFired(armed) || read < fired + woken.get()) && !hasOtherFired(other)) {
            count = event.read();
        }
        // Load the armed word again after the read. If the queue has fired between the first load and the read, its count has
        // just been consumed; unless the queue is armed again below, it would never signal again.
        boolean hasFired = hasFired(armed);
        if (hasFired) {
            fired++;
        }
        if (count > 0) {
            read += count;
            if (hasOtherFired(other)) {
                fired++;
                event.signal();
            } else {
                // A peer can write any value to the descriptor. Discard counts in excess of the firings and wake-ups.
                read = Math.min(read, fired + woken.get());
            }
        }
        if (hasFired) {
            // The fence orders the store of the armed word before the owner's next poll. A producer publishes its entry, executes
            // a full fence and loads the armed word (Doorbell.ring()): either the poll finds the entry or the producer finds the
            // queue armed (rows M5 to M10, M12 and M62 of docs/memory-order.md).
            Memory.putIntVolatile(armed, Doorbell.ARMED);
            Memory.fullFence();
        }
        return hasFired;
    }

    /**
     * Makes the descriptor readable on behalf of a queue, even if the queue has fired already: the process that changed the armed
     * word may have been killed before its write. Any thread may call it. It does nothing once the channel is closed.
     *
     * @param armed the address of the queue's armed word
     */
    public void wake(long armed) {
        if (event == null && Memory.casInt(armed, Doorbell.UNWATCHED, Doorbell.FIRED)) {
            return;
        }
        EventPipe pipe = retainEvent();
        if (pipe != null) {
            if (Memory.casInt(armed, Doorbell.ARMED, Doorbell.FIRED)) {
                pipe.signal();
            } else if (!pipe.isReadable()) {
                woken.incrementAndGet();
                pipe.signal();
            }
            pipe.release();
        }
    }

    private static boolean hasOtherFired(long other) {
        return other != 0 && hasFired(other);
    }

    /** Returns whether a queue has fired since it was armed. */
    public static boolean hasFired(long armed) {
        int word = Memory.getIntAcquire(armed);
        return word != Doorbell.ARMED && word != Doorbell.UNWATCHED;
    }

    /**
     * Ends the wait for the descriptor, after its queues were marked as closed and before their memory is released. From now on
     * no descriptor is created.
     */
    public void endWait() {
        synchronized (this) {
            closed = true;
        }
        if (event != null) {
            DescriptorWait.closing(event.fd());
        }
    }

    /** Closes the descriptor. */
    public void close() {
        synchronized (this) {
            closed = true;
        }
        if (event != null) {
            event.release();
        }
    }
}
