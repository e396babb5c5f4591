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

import io.rpma.soft.host.FaultPoints;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.PostedReceives;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Gives back the receives of a shared receive queue that were taken and will not be completed. There are two cases. A queue pair
 * has ended: the receives that it had taken are reported by the receive completion queue, or, without such a queue, posted again.
 * A process has overwritten a take word: the receive is found by a repair, and posted again ({@link LostReceives}).
 *
 * <p>Any thread may reclaim and may schedule a repair, which runs later on a thread of the default executor, at a limited rate;
 * at most one is in progress. The lock of this object guards its fields, and is not held while receives are posted.
 */
final class ReceiveReclaimer {
    /** The number of queue pairs that end before the whole queue is searched for lost receives. */
    private static final int FULL_LOOK = 64;
    /** The shortest and the longest time between two passes of a repair that is not complete. */
    private static final long MIN_REPAIR_MILLIS = 10;
    private static final long MAX_REPAIR_MILLIS = 40;
    /** The longest time between two repairs that nothing but a wait or ended queue pairs ask for. */
    private static final long MAX_SEARCH_MILLIS = 640;

    private final ReceiveQueueOwner queue;
    private final PostedReceives receives;
    private final AttachmentTable attachments;
    private final boolean reports;

    private int ended;
    private boolean repairing;
    private long lastRepair;
    private long searchMillis = MIN_REPAIR_MILLIS;

    /**
     * Creates the reclaimer of a queue.
     *
     * @param reports whether there is a receive completion queue, which reports receives that were not completed
     */
    ReceiveReclaimer(ReceiveQueueOwner queue, PostedReceives receives, AttachmentTable attachments, boolean reports) {
        this.queue = queue;
        this.receives = receives;
        this.attachments = attachments;
        this.reports = reports;
    }

    /**
     * Gives back the receives that a queue pair had taken and not completed when it ended, and releases its index. Its peer no
     * longer writes to their buffers.
     */
    void reclaim(SharedReceiveAttachment attachment) {
        if (FaultPoints.ENABLED) {
            FaultPoints.at("reclaiming");
        }
        boolean fullLook = isFullLookDue();
        if (fullLook || attachment.mayHoldReceives()) {
            for (int slot = 0; slot < receives.slots(); slot++) {
                long state = receives.state(slot);
                if (state != PostedReceives.FREE
                    && receives.takerOf(slot, PostedReceives.position(state)) == attachment.index() + 1) {
                    giveBack(slot, state, attachment);
                }
            }
        }
        if (fullLook) {
            scheduleSearch();
        }
        attachments.remove(attachment);
    }

    private synchronized boolean isFullLookDue() {
        return ++ended % FULL_LOOK == 0;
    }

    /**
     * Gives back a receive that a queue pair had taken. If there is a receive completion queue, that queue reports the receive;
     * otherwise it is posted again. The slot may have been completed and posted again meanwhile; it is left alone then.
     */
    private void giveBack(int slot, long state, SharedReceiveAttachment attachment) {
        if (!reports) {
            receives.postAgain(slot, state);
        } else if (receives.unpost(slot, state)) {
            attachment.addFlushed(slot);
            receives.push(slot);
        }
    }

    /** Schedules a repair on another thread, at a limited rate. At most one repair is in progress. */
    synchronized void scheduleRepair() {
        if (repairing || queue.isClosed()) {
            return;
        }
        repairing = true;
        later(lastRepair == 0 ? 0 : MIN_REPAIR_MILLIS - sinceLast(), MIN_REPAIR_MILLIS);
    }

    /**
     * Schedules a repair although nothing indicates that a receive is lost, unless the last one was a short time ago: an
     * initiator has been waiting for a receive for a long time, or many queue pairs have ended. There may only be more
     * initiators than receives, and many short connections, so the time is doubled whenever a repair finds nothing. An initiator
     * that keeps waiting asks again.
     */
    synchronized void scheduleSearch() {
        if (lastRepair != 0 && sinceLast() > 2 * searchMillis) {
            searchMillis = MIN_REPAIR_MILLIS;
        }
        if (lastRepair == 0 || sinceLast() >= searchMillis) {
            scheduleRepair();
        }
    }

    private long sinceLast() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastRepair);
    }

    private void later(long millis, long nextDelay) {
        CompletableFuture.delayedExecutor(Math.max(0, millis), TimeUnit.MILLISECONDS).execute(() -> repair(nextDelay));
    }

    /**
     * Makes one pass of a repair: posts the lost receives again. It schedules another pass if this one has left a receive that
     * only a later one can give back.
     *
     * @param nextDelay the delay in milliseconds before the next pass, if there has to be one
     */
    private void repair(long nextDelay) {
        if (!queue.retainMemory()) {
            return;
        }
        boolean over = true;
        int found = 0;
        try {
            // Not under a lock: posting wakes senders of this process, whose work requests are then executed by this thread.
            LostReceives lost = new LostReceives(receives, attachments);
            found = lost.giveBack();
            reportLost(found);
            over = !lost.hasLeftAny();
            if (!over) {
                later(nextDelay, Math.min(2 * nextDelay, MAX_REPAIR_MILLIS));
            }
        } finally {
            if (over) {
                synchronized (this) {
                    repairing = false;
                    lastRepair = System.nanoTime();
                    searchMillis = found > 0 ? MIN_REPAIR_MILLIS : Math.min(2 * searchMillis, MAX_SEARCH_MILLIS);
                }
            }
            queue.releaseMemory();
        }
    }

    private void reportLost(int count) {
        if (count > 0) {
            SoftLog.violation(count + " receives of shared receive queue " + queue.id() + " were marked as taken, but no process"
                + " completes them: one of the processes that share the queue has overwritten its memory; they are posted again");
        }
    }
}
