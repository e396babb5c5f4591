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
package io.rpma.soft;

import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Memory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The descriptor that one completion queue, or the two queues of a connection, make readable ({@code struct
 * ibv_comp_channel}). Used by the thread that polls.
 *
 * <p>A queue that fires does so exactly once until its owner arms it again, and every firing writes 1 to the descriptor. The
 * armed word and the write are two steps of another process, which may be killed between them: the owner counts the firings
 * it has seen against the counts it has read, and thereby knows whether a write may still be on its way.
 */
final class CompletionChannel {
    private final EventPipe event;
    // Counts written without a firing.
    private final AtomicLong woken = new AtomicLong();
    private long fired;
    private long read;

    CompletionChannel() throws RpmaException {
        event = EventPipe.create();
    }

    EventPipe event() {
        return event;
    }

    int fd() {
        return event.fd();
    }

    /**
     * Consumes the event of a queue and arms it again.
     *
     * @param armed the address of the queue's armed word
     * @param other the address of the armed word of the other queue of this channel, 0 if there is none
     * @return whether the queue had fired
     */
    boolean consume(long armed, long other) {
        long count = 0;
        if ((hasFired(armed) || read < fired + woken.get()) && !hasOtherFired(other)) {
            count = event.read();
        }
        // Only now: a queue that fires between a look at it and the read has its count read here, and would never be heard of
        // again if it were left as it is.
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
                // Nobody has fired for more: a peer writes to the descriptor as it likes.
                read = Math.min(read, fired + woken.get());
            }
        }
        if (hasFired) {
            // Before the owner looks into the queue once more: either it finds the entry or the producer finds this.
            Memory.putIntVolatile(armed, Doorbell.ARMED);
            Memory.fullFence();
        }
        return hasFired;
    }

    /**
     * Makes the descriptor readable for the sake of a queue, also if the queue has fired: who fired may have been killed before
     * the write. Any thread; a channel that is closed needs it no more.
     *
     * @param armed the address of the queue's armed word
     */
    void wake(long armed) {
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

    /** Makes the descriptor readable. Any thread; a channel that is closed needs it no more. */
    void wake() {
        if (event.tryRetain()) {
            event.signal();
            event.release();
        }
    }

    private static boolean hasOtherFired(long other) {
        return other != 0 && hasFired(other);
    }

    /** Returns whether a queue has fired since it was armed. */
    static boolean hasFired(long armed) {
        return Memory.getIntAcquire(armed) != Doorbell.ARMED;
    }

    void close() {
        DescriptorWait.closing(fd());
        event.release();
    }
}
