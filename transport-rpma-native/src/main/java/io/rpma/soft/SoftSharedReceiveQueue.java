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

import io.rpma.CompletionQueue;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.HalfMemory;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.PostedReceives;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The owner's side of a shared receive queue. Any thread may post. Completions arrive in the rings of the attached queue pairs,
 * which one thread polls together (the receive completion queue) or several threads poll one by one (the completion queues of
 * the queue pairs).
 *
 * <p>This class creates and destroys the shared memory, and counts the queue pairs and requests that keep it: the lock of this
 * object guards these counts and the transition to the closed state. The posted receives are in {@link PostedReceives}, the
 * attached queue pairs in {@link AttachmentTable}, the ring of completions of each in {@link SharedReceiveAttachment}.
 *
 * <p>No receive is lost. A receive that a queue pair had taken and not completed when it ended is reported by the receive
 * completion queue; without such a queue it is posted again, because there is no queue to report it. The processes that share the
 * queue can overwrite each other's take words and hints, and the owner cannot find out which of them did. So each completion is
 * compared with the take word, each take word is checked before its entry is used again, and a repair ({@link ReceiveReclaimer})
 * finds the receives that can neither be taken nor completed, and posts them again: an overwritten word costs a delay, and at
 * most the connection that used it.
 */
final class SoftSharedReceiveQueue implements SharedReceiveQueue, ReceiveQueueOwner {
    /** The least and the largest number of completions in the ring of one queue pair, unless the queue has fewer receives. */
    private static final int MIN_RING = 64;
    private static final int MAX_RING = 256;

    private final ProtectionDomain domain;
    private final int id;
    private final int capacity;
    private final SharedMemory posted;
    private final SharedMemory memory;
    private final AttachmentTable attachments;
    private final ReceiveWaiters waiters;
    private final PostedReceives receives;
    private final ReceiveReclaimer reclaimer;
    private final SharedReceiveCompletionQueue completionQueue;

    private int attached;
    // The attached queue pairs that are closed, but whose peer may still write to the buffer of a receive.
    private int lingering;
    private volatile boolean closed;
    private volatile boolean destroyed;

    SoftSharedReceiveQueue(ProtectionDomain domain, int id, int slots, int completions) throws RpmaException {
        this.domain = domain;
        this.id = id;
        capacity = Half.powerOfTwo(slots);
        posted = SharedMemory.create("rpma-posted-receives", SharedReceives.postedSize(capacity), true);
        boolean done = false;
        SharedMemory shared = null;
        try {
            shared = SharedMemory.create("rpma-shared-receives", SharedReceives.size(capacity));
            memory = shared;
            long ring = posted.address();
            long base = memory.address();
            attachments = new AttachmentTable(base);
            waiters = new ReceiveWaiters(base, attachments);
            receives = new PostedReceives(slots, capacity, ring, base, ThreadLocalRandom.current().nextInt(),
                waiters::wake, this::scheduleRepair);
            reclaimer = new ReceiveReclaimer(this, receives, attachments, completions != 0);
            completionQueue = completions == 0 ? null
                : new SharedReceiveCompletionQueue(attachments, reclaimer, completions, base,
                    SharedReceives.arming(ring, capacity), completions < slots, this::wakeMore);
            done = true;
        } finally {
            if (!done) {
                posted.release();
                if (shared != null) {
                    shared.release();
                }
            }
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    @Override
    public int id() {
        return id;
    }

    int slots() {
        return receives.slots();
    }

    int capacity() {
        return capacity;
    }

    /**
     * Returns the number of completions that the ring of a queue pair holds, which is how many messages of its peer can have
     * arrived and not been polled.
     *
     * @param receives the size of the receive queue in the configuration of the connection
     */
    int ringCapacity(int receives) {
        int wanted = Math.clamp(Half.powerOfTwo(receives + 1), MIN_RING, MAX_RING);
        // A ring that has more entries than the queue has slots never becomes full.
        return Math.min(Half.powerOfTwo(slots() + 1), wanted);
    }

    @Override
    public SharedMemory memory() {
        return memory;
    }

    @Override
    public SharedMemory posted() {
        return posted;
    }

    @Override
    public EventPipe event() {
        return completionQueue == null ? null : completionQueue.channel().event();
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return completionQueue;
    }

    @Override
    public boolean returnsUnfinishedReceives() {
        return true;
    }

    SharedReceiveCompletionQueue completions() {
        return completionQueue;
    }

    @Override
    public synchronized SharedReceives view() {
        return closed ? null : new SharedReceives(id, posted.retain(), memory.retain(), capacity,
            completionQueue == null ? null : completionQueue.channel().event().retain());
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        SoftLocalMemoryRegion region = SoftLocalMemoryRegion.of(target);
        Receives.check(region, offset, length);
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        if (!receives.post(context, Receives.key(region, offset, length), offset, (int) length)) {
            int slots = receives.slots();
            throw SoftLog.failure(RpmaError.PROVIDER, 12, "shared receive queue full: " + slots + " of " + slots
                + " slots are posted or not polled yet; poll completions first, or configure a larger queue"
                + " (SharedReceiveQueueConfig.receiveQueueSize)", null);
        }
    }

    /**
     * Called before the owner waits for completions: wakes an initiator for each receive that has not been taken. Those that were
     * woken before may be stopped, or may not need a receive any more.
     */
    private void wakeMore() {
        if (waiters.areThere()) {
            waiters.wake(receives.free());
        }
    }

    /** Handles the report of a sender that has been waiting for a receive for a while: receives may be lost. */
    void starved() {
        reclaimer.scheduleSearch();
    }

    @Override
    public void scheduleRepair() {
        reclaimer.scheduleRepair();
    }

    // ---- attached queue pairs

    /**
     * Attaches a queue pair, whose completions arrive in the ring at this address of its half. The caller then calls
     * {@link #publish}.
     */
    synchronized SharedReceiveAttachment attach(LocalEnd own, HalfMemory half, long ringAddress, int ringSize)
            throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        int index = attachments.allocate();
        if (index < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, 12, SharedReceives.MAX_ATTACHED + " connections share this receive queue,"
                + " which is the limit: use another queue for further connections", null);
        }
        attached++;
        if (FaultPoints.ENABLED) {
            FaultPoints.at("attached");
        }
        return new SharedReceiveAttachment(this, receives, own, half, index, ringAddress, ringSize);
    }

    /**
     * Makes an attachment available by its index. Called once its queue pair is complete, because another process can set any
     * ready bit at any time.
     */
    void publish(SharedReceiveAttachment attachment) {
        attachments.publish(attachment);
    }

    @Override
    public LocalEnd attachedEnd(int index) {
        SharedReceiveAttachment attachment = attachments.get(index);
        return attachment == null ? null : attachment.end();
    }

    @Override
    public boolean isClaimed(int slot, int position, int except) {
        for (SharedReceiveAttachment attachment : attachments.all()) {
            if (attachment != null && attachment.index() != except && attachment.claims(slot, position)) {
                return true;
            }
        }
        return false;
    }

    /** Handles the end of a peer: completions that it published without setting its ready bit are polled as well. */
    void peerGone(SharedReceiveAttachment attachment) {
        if (completionQueue != null) {
            completionQueue.revive(attachment);
        }
    }

    /**
     * Marks a queue pair as closed while its peer may still fill a receive: this queue can then be closed, and is destroyed
     * later.
     */
    void linger(SharedReceiveAttachment attachment) {
        attachment.linger();
        countLingering();
    }

    /** Ends an attachment. The peer publishes nothing more in its ring. */
    void detach(SharedReceiveAttachment attachment) {
        attachment.noteEnd();
        if (completionQueue != null) {
            completionQueue.detach(attachment);
        } else {
            reclaimer.reclaim(attachment);
            attachment.release();
        }
        // The last step: from here on this queue may be closed, and its memory unmapped.
        countDown(attachment.lingers());
    }

    // ---- life cycle

    /** Keeps the queue open for a connection request that has not attached a queue pair yet. */
    synchronized void hold() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the shared receive queue is closed");
        }
        attached++;
    }

    /** Undoes {@link #hold}. */
    void countDown() {
        countDown(false);
    }

    /**
     * Removes a queue pair or a connection request from the count.
     *
     * @param lingered whether it was a queue pair that {@link #countLingering} has counted
     */
    private synchronized void countDown(boolean lingered) {
        attached--;
        lingering -= lingered ? 1 : 0;
        if (closed && attached == 0) {
            destroy();
        }
    }

    /** Counts an attached queue pair that is closed, but whose peer may still write to the buffer of a receive. */
    private synchronized void countLingering() {
        lingering++;
    }

    @Override
    public synchronized boolean retainMemory() {
        if (closed) {
            return false;
        }
        posted.retain();
        memory.retain();
        return true;
    }

    @Override
    public void releaseMemory() {
        posted.release();
        memory.release();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() throws RpmaException {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (attached > lingering) {
                throw SoftLog.failure(RpmaError.PROVIDER, 16, attached - lingering
                    + " connections still take their receives from this queue: close them first", null);
            }
            closed = true;
            // Keep the memory until the end of this method.
            attached++;
        }
        if (completionQueue != null) {
            completionQueue.markClosed();
            // Without the monitor: this waits for a thread that is polling, which may need the monitor.
            completionQueue.channel().endWait();
        }
        domain.process().withdraw(this);
        domain.removeChild();
        countDown();
    }

    private void destroy() {
        if (completionQueue != null) {
            completionQueue.close();
        }
        releaseMemory();
        destroyed = true;
    }

    @Override
    public boolean isQuiescent() {
        if (closed && !destroyed) {
            domain.process().limbo().sweep();
        }
        return destroyed;
    }
}
