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
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.process.LimboList;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.Half;

/**
 * What the peer's {@link Requester} finds at this end of a connection: the receives that have been posted, and the ring in which
 * it publishes their completions. The receives belong to this queue pair alone, or to a shared receive queue.
 *
 * <p>Receives are posted by any thread that the connection allows; completions are polled by one thread at a time.
 */
final class Responder {
    private final LocalEnd own;
    private final long base;
    // Either there is an own receive queue, or a shared one with its attachment.
    private final ReceiveQueue receives;
    private final SoftSharedReceiveQueue queue;
    private final SharedReceiveAttachment attachment;
    private final Doorbell doorbell;
    private final LimboList limbo;
    // Whether the list will ring when the peer's operation has ended. Only the polling thread sets it.
    private volatile boolean operationAwaited;
    private boolean closed;

    /**
     * Creates the responder of a queue pair.
     *
     * @param ring the address of the ring of completions in its half
     * @param limbo the list that awaits the end of the peer's operations
     */
    Responder(LocalEnd own, QueueSizes sizes, long ring, LimboList limbo) throws RpmaException {
        this.own = own;
        this.limbo = limbo;
        doorbell = own.receiveDoorbell();
        base = own.base();
        queue = sizes.sharedReceiveQueue();
        if (queue == null) {
            receives = new ReceiveQueue(sizes.receives(), own.receiveCapacity(), base + Half.RECEIVES, ring);
            attachment = null;
        } else {
            receives = null;
            attachment = queue.attach(own, own.half(), ring, own.ringCapacity());
        }
    }

    /** Returns the own receive queue, or {@code null}. */
    ReceiveQueue receives() {
        return receives;
    }

    /** Returns the shared receive queue, or {@code null}. */
    SoftSharedReceiveQueue sharedReceiveQueue() {
        return queue;
    }

    /** Returns the attachment to a shared receive queue, or {@code null}. */
    SharedReceiveAttachment attachment() {
        return attachment;
    }

    /** Makes the attachment to a shared receive queue available, if there is one. Called once the queue pair is complete. */
    void publish() {
        if (attachment != null) {
            queue.publish(attachment);
        }
    }

    /** Posts a receive to the queue pair's own receive queue. */
    void post(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        Receives.check(target, offset, length);
        if (receives == null) {
            throw Receives.shared();
        }
        own.checkOpen();
        receives.post(Receives.key(target, offset, length), offset, (int) length, context);
        // Orders the store of the entry's state word before the load of Half.STALLED. announce() of the peer orders its store of
        // that word before its next search for a receive: one of the two sides observes the other's store. The fence also orders
        // the post before the loads of the other end, which may be connected at this moment, and of the state in isError()
        // (rows M3 and M11 of docs/memory-order.md).
        Memory.fullFence();
        own.wakePeer();
        if (own.isError()) {
            // Orders the post before the load of the armed word: the polling thread flushes this receive, or is woken to do so
            // (row M10 of docs/memory-order.md).
            Memory.fullFence();
            doorbell.ring();
        }
    }

    /** Returns the number of receives that have completed and have not been polled, at most {@code limit}. */
    int ready(int limit) {
        return receives != null ? receives.ready(limit) : attachment.ready(limit);
    }

    /**
     * Takes completions of receives.
     *
     * @return the number of entries now in the batch
     */
    int poll(WorkCompletions completions, int count) {
        int fault = Memory.getInt(base + Half.FAULT);
        if (fault != 0) {
            heed(fault);
        }
        boolean due = own.isError() && receives != null && receives.outstanding() > 0;
        // Load the two words before the ring is polled. The peer publishes completions and then makes Half.BUSY even (release),
        // so a poll after an even value finds everything that it published. Half.STATE has to be loaded before Half.BUSY: the
        // peer takes receives until it observes the error there, which the failing thread stores after the field "state"; a peer
        // that becomes busy after these two loads observes it and takes none.
        boolean flush = due && Memory.getIntVolatile(base + Half.STATE) == Half.ERROR && !isPeerBusy();
        int result = pollArrived(completions, count);
        if (flush) {
            return receives.flush(completions, result, own.number());
        }
        if (due) {
            ringAfterOperation();
        }
        return result;
    }

    /**
     * Rings when the peer's operation has ended, so that the polling thread polls again. The peer does not signal that end, and
     * it may be stopped for any time: the list of the process checks for it.
     */
    private void ringAfterOperation() {
        RemoteEnd end = own.remote();
        if (end != null && end.process().isSelf()) {
            // A thread of this process cannot be stopped alone.
            doorbell.ring();
        } else if (!operationAwaited) {
            operationAwaited = true;
            GracePeriod period = GracePeriod.with(null, own.peerOperation());
            if (period == null || period.endsAtOnce()) {
                ringAgain();
            } else {
                limbo.add(period, 0, this::ringAgain);
            }
        }
    }

    private synchronized void ringAgain() {
        // Cleared before the thread that polls is woken: if the peer executes another operation by then, that is awaited next.
        operationAwaited = false;
        // Orders the store above before the load of the armed word: the polling thread arms, executes a fence and polls again, so
        // either it finds that nothing is awaited, or this thread finds the queue armed (row M62 of docs/memory-order.md).
        Memory.fullFence();
        if (!closed) {
            doorbell.ring();
        }
    }

    /** Called when the queue pair is closed, before the memory of the doorbell is released. */
    synchronized void close() {
        closed = true;
    }

    /** Handles a fault that the peer has reported. */
    private void heed(int fault) {
        if (fault == Half.STARVED && attachment != null) {
            Memory.casInt(base + Half.FAULT, fault, 0);
            queue.starved();
        } else {
            own.fail();
        }
    }

    /**
     * Takes completions of receives that the peer has filled.
     *
     * @return the number of entries now in the batch
     */
    int pollArrived(WorkCompletions completions, int count) {
        int result = receives != null ? receives.poll(completions, count, own.number()) : attachment.poll(completions, count);
        if (result < 0) {
            own.fail();
            return ~result;
        }
        return result;
    }

    private boolean isPeerBusy() {
        RemoteEnd end = own.remote();
        return end != null && (Memory.getIntVolatile(end.base() + Half.BUSY) & 1) != 0 && !end.process().hasEnded();
    }

    // ---- the end

    /** Wakes a sender that waits for a receive of the shared queue, because this queue pair will not take one any more. */
    void wakeWaiter() {
        if (attachment != null) {
            attachment.wakeWaiter();
        }
    }

    /** Called when the peer has gone: it may have published a completion and not yet signalled it. */
    void peerGone() {
        if (attachment != null) {
            queue.peerGone(attachment);
        }
    }

    /** Called when the queue pair is closed while the peer executes an operation. */
    void linger() {
        if (attachment != null) {
            queue.linger(attachment);
        }
    }

    /** Called when the peer can no longer access this end. */
    void detach() {
        if (attachment != null) {
            queue.detach(attachment);
        }
    }
}
