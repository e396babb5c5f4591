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
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The completion queue of a shared receive queue: it polls the rings of the attached queue pairs, but only of those that have
 * something, or had a short while ago, so that its cost does not grow with the number of connections.
 *
 * <p>A queue pair whose ready bit is set at the lowest level is in the list of active ones; its producer then writes nothing
 * but its ring. One that stays empty is put out of the list, and its bit cleared, when the list is long.
 *
 * <p>Any process that shares the queue can overwrite the bits. So all rings are looked at when this queue has been woken and
 * there is nothing in the list, and now and then.
 */
final class SharedReceiveCompletionQueue extends SoftCompletionQueue {
    /** Rings that are polled though they are empty. */
    private static final int KEEP = 8;
    /** Empty polls in a row after which a ring beyond those is put out of the list. */
    private static final int IDLE_LIMIT = 64;
    /** Empty polls of this queue in a row after which all rings are looked at. */
    private static final int LOOK_LIMIT = 1024;
    /** Polls after which that is done though there always was something: others may be waiting meanwhile. */
    private static final int BUSY_LOOK_LIMIT = 16 * 1024;

    private final SoftSharedReceiveQueue queue;
    private final long base;
    // The address of the number by which this queue is armed: only this process writes there.
    private final long arming;
    private final boolean mayOverflow;
    private final ConcurrentLinkedQueue<SoftSharedReceiveQueue.Attachment> revived = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<SoftSharedReceiveQueue.Attachment> detached = new ConcurrentLinkedQueue<>();
    private volatile boolean news;
    private SoftSharedReceiveQueue.Attachment[] active = new SoftSharedReceiveQueue.Attachment[KEEP];
    private int activeCount;
    private int next;
    private int emptyPolls;
    private int polls;
    private SoftSharedReceiveQueue.Attachment[] orphaned = new SoftSharedReceiveQueue.Attachment[0];

    SharedReceiveCompletionQueue(SoftSharedReceiveQueue queue, int size, long base, long arming, boolean mayOverflow)
            throws RpmaException {
        super(new CompletionChannel(), size);
        this.queue = queue;
        this.base = base;
        this.arming = arming;
        this.mayOverflow = mayOverflow;
        Memory.putLongRelease(arming, 1);
    }

    /**
     * Reads the descriptor whether or not anybody has rung: that is not known from memory that others can overwrite. If somebody
     * has, the queue is armed anew; otherwise it still is, and somebody who is about to ring makes the descriptor readable.
     */
    @Override
    boolean consume() {
        boolean hasRung = channel().event().read() > 0;
        if (hasRung) {
            // Before this looks into the rings once more: either it finds an entry there, or the producer finds the new number.
            Memory.putLongRelease(arming, Memory.getLong(arming) + 1);
            Memory.fullFence();
            // The bits by which producers say that they have something are not to be relied on.
            emptyPolls = LOOK_LIMIT;
        }
        return hasRung;
    }

    @Override
    int take(WorkCompletions completions) throws RpmaException {
        if (news) {
            takeNews();
        }
        if (Memory.getLongAcquire(base + SharedReceives.READY_TOP) != 0) {
            findReady();
        }
        if (mayOverflow) {
            checkOverflow();
        }
        int count = 0;
        if (orphaned.length > 0) {
            count = takeOrphans(completions);
        }
        count = pollActive(completions, count);
        emptyPolls = count > 0 ? 0 : emptyPolls + 1;
        polls++;
        if (emptyPolls >= LOOK_LIMIT || polls >= BUSY_LOOK_LIMIT) {
            emptyPolls = 0;
            polls = 0;
            findForgotten();
            if (count == 0) {
                count = pollActive(completions, 0);
            }
        }
        return count;
    }

    /** Polls the rings in the list. Returns the number of entries now in the batch. */
    private int pollActive(WorkCompletions completions, int taken) {
        int count = taken;
        int limit = completions.capacity();
        // Starts where the last batch was full, so that no ring starves the others.
        int start = next < activeCount ? next : 0;
        for (int i = 0; i < activeCount && count < limit; i++) {
            int at = start + i;
            if (at >= activeCount) {
                at -= activeCount;
            }
            SoftSharedReceiveQueue.Attachment attachment = active[at];
            int before = count;
            count = attachment.queuePair().pollReceives(completions, count);
            if (count == limit) {
                next = at + 1;
            } else if (count == before && activeCount > KEEP && attachment.countIdle() > IDLE_LIMIT) {
                if (deactivate(at)) {
                    i--;
                    start = at < start ? start - 1 : start;
                }
            }
        }
        return count;
    }

    /** Brings the queue pairs into the list that are not there, and whose rings have something: their bits were overwritten. */
    private void findForgotten() {
        for (int index = queue.attachmentCount() - 1; index >= 0; index--) {
            SoftSharedReceiveQueue.Attachment attachment = queue.attachment(index);
            if (attachment != null && attachment.isDue()) {
                activate(attachment);
            }
        }
    }

    private void checkOverflow() throws RpmaException {
        int ready = 0;
        for (int i = 0; i < activeCount && ready <= size(); i++) {
            ready += active[i].ready(size() + 1 - ready);
        }
        if (ready > size()) {
            for (int i = 0; i < activeCount; i++) {
                active[i].queuePair().fail();
            }
            throw overflow();
        }
    }

    /** Brings the queue pairs whose bits are new into the list, from the uppermost level down. */
    private void findReady() {
        long top = Memory.getAndSetLong(base + SharedReceives.READY_TOP, 0);
        while (top != 0) {
            int topBit = Long.numberOfTrailingZeros(top);
            top &= top - 1;
            if (topBit >= SharedReceives.MAX_ATTACHED >>> 12) {
                continue;
            }
            long middle = Memory.getAndSetLong(base + SharedReceives.READY_MIDDLE + topBit * 8L, 0);
            while (middle != 0) {
                int word = (topBit << 6) + Long.numberOfTrailingZeros(middle);
                middle &= middle - 1;
                long bits = Memory.getLongVolatile(base + SharedReceives.READY + word * 8L);
                while (bits != 0) {
                    activate(queue.attachment((word << 6) + Long.numberOfTrailingZeros(bits)));
                    bits &= bits - 1;
                }
            }
        }
    }

    private void activate(SoftSharedReceiveQueue.Attachment attachment) {
        // One may be revived and detached while its detachment is being taken: then it has finished before it is seen here.
        if (attachment != null && !attachment.isActive() && !attachment.hasFinished()) {
            attachment.setActive(true);
            if (activeCount == active.length) {
                active = Arrays.copyOf(active, activeCount * 2);
            }
            active[activeCount++] = attachment;
        }
    }

    /** Puts a ring out of the list, unless something has come meanwhile. */
    private boolean deactivate(int at) {
        SoftSharedReceiveQueue.Attachment attachment = active[at];
        Memory.getAndBitwiseAndLong(base + SharedReceives.READY + (attachment.index() >>> 6) * 8L,
            ~(1L << attachment.index()));
        Memory.fullFence();
        if (!attachment.isEmpty()) {
            // Its producer may have seen the bit still set: the list stays the one place that knows of it.
            Memory.getAndBitwiseOrLong(base + SharedReceives.READY + (attachment.index() >>> 6) * 8L,
                1L << attachment.index());
            attachment.setActive(true);
            return false;
        }
        remove(at);
        return true;
    }

    private void remove(int at) {
        active[at].setActive(false);
        activeCount--;
        System.arraycopy(active, at + 1, active, at, activeCount - at);
        active[activeCount] = null;
    }

    /** Polls the ring of a queue pair whose peer is gone, whether its ready bits were set or not. Any thread. */
    void revive(SoftSharedReceiveQueue.Attachment attachment) {
        revived.add(attachment);
        announce();
    }

    /** Takes over the ring of a queue pair that is closed. Any thread. */
    void detach(SoftSharedReceiveQueue.Attachment attachment) {
        detached.add(attachment);
        announce();
    }

    private void announce() {
        news = true;
        Memory.fullFence();
        channel().wake();
    }

    private void takeNews() {
        news = false;
        SoftSharedReceiveQueue.Attachment attachment = revived.poll();
        while (attachment != null) {
            activate(attachment);
            attachment = revived.poll();
        }
        if (Faults.ENABLED) {
            Faults.at("revived");
        }
        attachment = detached.poll();
        while (attachment != null) {
            for (int i = 0; i < activeCount; i++) {
                if (active[i] == attachment) {
                    remove(i);
                    break;
                }
            }
            attachment.finish();
            if (attachment.hasOrphans()) {
                orphaned = Arrays.copyOf(orphaned, orphaned.length + 1);
                orphaned[orphaned.length - 1] = attachment;
            }
            attachment = detached.poll();
        }
    }

    private int takeOrphans(WorkCompletions completions) {
        int count = 0;
        int done = 0;
        while (done < orphaned.length && count < completions.capacity()) {
            count = orphaned[done].pollOrphans(completions, count);
            if (orphaned[done].hasOrphans()) {
                break;
            }
            done++;
        }
        orphaned = Arrays.copyOfRange(orphaned, done, orphaned.length);
        return count;
    }

    /** Closes the queue with its shared receive queue, to which no queue pair is attached any more. */
    void close() {
        takeNews();
        markClosed();
        channel().close();
    }
}
