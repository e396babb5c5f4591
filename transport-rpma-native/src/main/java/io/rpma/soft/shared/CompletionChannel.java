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
 * ibv_comp_channel}). The polling thread uses it, except for the wake methods, which any thread may call.
 *
 * <p>A queue that fires does so exactly once until its owner arms it again, and every firing writes 1 to the descriptor. The
 * armed word and the write are two steps of another process, which may be killed between them. The owner therefore compares the
 * number of firings that it has observed with the sum of the counts that it has read: while the sum is smaller, a write may still
 * follow.
 */
public final class CompletionChannel {
    private final EventPipe event;
    // The counts that wake(long) wrote without a firing.
    private final AtomicLong woken = new AtomicLong();
    private long fired;
    private long read;

    public CompletionChannel() throws RpmaException {
        event = EventPipe.create();
    }

    public EventPipe event() {
        return event;
    }

    public int fd() {
        return event.fd();
    }

    /**
     * Consumes the event of a queue and arms it again.
     *
     * @param armed the address of the queue's armed word
     * @param other the address of the armed word of the other queue of this channel, 0 if there is none
     * @return whether the queue had fired
     */
    public boolean consume(long armed, long other) {
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
            // queue armed (rows M5 to M10 and M12 of docs/memory-order.md).
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
        if (event.tryRetain()) {
            if (Memory.casInt(armed, Doorbell.ARMED, Doorbell.FIRED)) {
                event.signal();
            } else if (!event.isReadable()) {
                woken.incrementAndGet();
                event.signal();
            }
            event.release();
        }
    }

    /** Makes the descriptor readable. Any thread may call it. It does nothing once the channel is closed. */
    public void wake() {
        if (event.tryRetain()) {
            event.signal();
            event.release();
        }
    }

    private static boolean hasOtherFired(long other) {
        return other != 0 && hasFired(other);
    }

    /** Returns whether a queue has fired since it was armed. */
    public static boolean hasFired(long armed) {
        return Memory.getIntAcquire(armed) != Doorbell.ARMED;
    }

    /** Ends the wait for the descriptor, after its queues were marked as closed and before their memory is released. */
    public void endWait() {
        DescriptorWait.closing(fd());
    }

    public void close() {
        event.release();
    }
}
