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

package io.rpma.netty.receive;

import io.netty.channel.IoEventLoop;
import io.netty.channel.MultithreadEventLoopGroup;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.netty.memory.BuddyArena;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.memory.NumberProperty;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.pair.ProviderCalls;
import io.rpma.netty.pair.TransportLogger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Receive buffers that many connections share ({@code rpma_srq_recv(3)}), so that each of many connections needs memory for one
 * at most. The connections of an event loop share one queue, whose receives complete in one completion queue for all of
 * them ({@code rpma_srq_get_rcq(3)}): {@link LoopCompletions}. If it is not known which loop a connection will be on,
 * completions arrive in the connection's own completion queue, and the receives are shared by all such connections.
 *
 * <p>While there are few connections, there are as many receives as all of them together may need: none can run out, and an
 * unread message keeps its receive, as with a queue of its own. With more connections the number of receives is fixed. When
 * there are as many connections as receives, further connections of a loop get a second queue ({@link QueueGroup}), in which
 * each connection adds one receive, up to a limit. A message releases its receive as soon as its completion has been polled
 * (<i>crowded</i>), so that no connection can delay the others, even if its application does not read. A burst of messages from
 * many peers that uses up all receives before the loops poll them waits in the network; on a device, it is repeated after 655 ms.
 *
 * <p>The data path takes no lock. Slots are added and removed under the lock, when connections are made and closed.
 */
public final class SharedReceives extends ReceiveBuffers implements LoopCompletions.Owner {
    /** The limit up to which the receives of a queue that belongs to no loop are divided into one share for each connection. */
    private static final int SHARES = (int) NumberProperty.get("io.rpma.netty.sharedReceiveBuffers", 512, 64, 1 << 24);
    /** The factor between that limit and the receives of all loops of a group, if there are so many connections. */
    private static final int MOST = 16;
    /** The smallest value of that limit for the queue of one loop. */
    private static final int FEWEST_SHARES = Math.min(128, SHARES);
    /** No connection is made if there are fewer receives than this for lack of memory. */
    private static final int FEWEST = 128;
    /** An unused queue with at most this many receives is kept for the next connection, or kept longer if it has a loop. */
    private static final int KEPT = 64;
    /**
     * How long the unused queue of a loop is kept in any event. With short connections, 16 at a time, the last one of a loop
     * closes every few milliseconds; creating the queue again, with its files and mappings in both processes, took as long as
     * making the connection ({@code ./run-benchmark.sh --only=connectx16}).
     */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /**
     * How long the unused queue of a loop is kept if it is small. It is not kept forever, because it is registered with the loop:
     * Netty suspends no loop that has a registration, so a group that scales automatically would never scale down.
     */
    private static final long SMALL_IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final QueueGroup group;
    private final SharedReceiveQueue queue;
    // Null if the receives complete in the connections' own queues.
    private final LoopCompletions completions;
    private final AtomicReferenceArray<RpmaByteBuf> buffers;
    // The next five are guarded by QueueGroup.LOCK.
    private int users;
    private long keptUntil;
    private long endScheduledFor;
    private boolean endScheduled;
    private boolean ending;
    // Guarded by the lock of this object.
    private final int[] freeSlots;
    private int freeCount;
    private int shares;
    private int connections;
    private final int allShares;
    private final int mostCirculating;
    private final int allSpares;
    private int sharesAtMost;
    private int spares;
    private int fewest;
    private boolean retired;
    // Read without a lock; a slightly outdated value does no harm.
    private volatile boolean crowded;
    private volatile int surplus;

    SharedReceives(Fabric fabric, int messageBytes, QueueGroup group, boolean large) throws RpmaException {
        super(fabric, messageBytes);
        this.group = group;
        IoEventLoop loop = group.loop();
        int loops = loop == null ? 1 : loops(loop);
        // All loops of a group together have as many shares as the queues that belong to no loop.
        allShares = loop == null ? SHARES : Math.clamp((long) SHARES * QueueGroup.SPREAD / loops, FEWEST_SHARES, SHARES);
        allSpares = spares(allShares);
        sharesAtMost = allShares;
        int limit = Math.min(fabric.limits().maxSharedReceiveQueueWorkRequests(), fabric.limits().maxCompletionQueueSize());
        mostCirculating = !large ? 2 * allShares
            : Math.clamp((long) MOST * SHARES / loops, 2 * allShares, Math.max(2 * allShares, limit - allSpares));
        int slots = Math.min(mostCirculating + allSpares, fabric.limits().maxSharedReceiveQueueWorkRequests());
        try (SharedReceiveQueueConfig config = fabric.provider().newSharedReceiveQueueConfig()) {
            // No receive completes twice before it is posted again, so there cannot be more completions than this.
            queue = fabric.peer().newSharedReceiveQueue(config.receiveQueueSize(slots)
                .receiveCompletionQueueSize(loop == null ? 0 : slots));
        }
        completions = loop == null ? null : new LoopCompletions(this, queue.receiveCompletionQueue(), loop);
        buffers = new AtomicReferenceArray<>(slots);
        freeSlots = new int[slots];
        for (int slot = slots - 1; slot >= 0; slot--) {
            freeSlots[freeCount++] = slot;
        }
    }

    /**
     * Creates a queue with room for many receives, of a loop whose first queue is full, and posts so many that it is usable.
     *
     * @return the queue, or {@code null} if more than half of the registered memory would be in use, or if there is not enough
     *     memory, or the device has no more queues
     */
    static SharedReceives tryCreateLarge(Fabric fabric, int messageBytes, QueueGroup group) {
        SharedReceives created;
        try {
            created = new SharedReceives(fabric, messageBytes, group, true);
        } catch (RpmaException e) {
            TransportLogger.LOGGER.debug("No second shared receive queue of {} can be created; its connections share the first"
                + " one.", fabric, e);
            return null;
        }
        if (created.reserve()) {
            return created;
        }
        created.destroy();
        return null;
    }

    /** Posts the receives that this queue has at least. Returns whether there was enough memory. */
    private synchronized boolean reserve() {
        long bytes = (long) slots(allShares) << BuddyArena.shift(messageBytes);
        if (RegisteredMemory.usedBytes() + bytes > RegisteredMemory.MAX_BYTES / 2) {
            return false;
        }
        fewest = FEWEST;
        try {
            fill();
            return true;
        } catch (RpmaException e) {
            TransportLogger.LOGGER.debug("There is no memory for a second shared receive queue of {}; its connections share the"
                + " first one.", fabric, e);
            return false;
        }
    }

    private static int loops(IoEventLoop loop) {
        return loop.parent() instanceof MultithreadEventLoopGroup group ? group.executorCount() : 1;
    }

    /** Returns the number of receives that may replace those lost with connections that ended in the middle of a message. */
    private static int spares(int shares) {
        return shares / 4;
    }

    /**
     * Returns the number of receives that a queue has at least. In addition to the shares, as many more circulate and are held by
     * no connection.
     */
    private static int slots(int shares) {
        return 2 * shares + spares(shares);
    }

    /**
     * Returns whether a fabric's device has shared receive queues that are usable. A message that finds no receive is delayed,
     * but on an iWARP device it ends the connection. There each connection needs receives that no other connection can take.
     */
    public static boolean isPossible(Fabric fabric) {
        return !fabric.isIwarp() && fabric.limits().maxSharedReceiveQueueWorkRequests() >= slots(SHARES);
    }

    /**
     * Returns the queue for the next connection. The caller must call {@link #leave} on it exactly once.
     *
     * @param loop the loop that the connection will be on, {@code null} if that is not known
     */
    public static SharedReceives join(Fabric fabric, int messageBytes, IoEventLoop loop) throws RpmaException {
        IoEventLoop of = loop == null || loop.isShuttingDown() || fabric.limits().maxCompletionQueueSize() < slots(SHARES)
            ? null : loop;
        SharedReceives chosen;
        synchronized (QueueGroup.LOCK) {
            chosen = QueueGroup.of(fabric, messageBytes, of).next();
            chosen.users++;
        }
        if (of != null) {
            chosen.completions.watch();
        }
        return chosen;
    }

    /**
     * Returns the registered memory, in bytes, of receives that no open connection needs: those that ended connections have left,
     * and those that replace receives lost with a connection. May be called on any thread.
     */
    public static long surplusBytes() {
        long bytes = 0;
        for (SharedReceives each : QueueGroup.live()) {
            bytes += each.surplusOfQueue();
        }
        return bytes;
    }

    private synchronized long surplusOfQueue() {
        return (long) Math.max(0, surplus + spares) << BuddyArena.shift(messageBytes);
    }

    /** Returns whether there are as many connections as receives that circulate. Called under QueueGroup.LOCK. */
    boolean isFull() {
        return users >= 2 * allShares;
    }

    @Override
    public LoopCompletions completions() {
        return completions;
    }

    @Override
    public void configure(ConnectionConfig config) throws RpmaException {
        config.sharedReceiveQueue(queue);
    }

    @Override
    public synchronized void post(ConnectionRequest request, int count) throws RpmaException {
        shares += count;
        connections++;
        try {
            fill();
        } catch (RpmaException e) {
            shares -= count;
            connections--;
            throw e;
        }
    }

    private int wanted() {
        return Math.max(fewest,
            spares + (shares <= sharesAtMost ? shares : Math.clamp(connections, 2 * allShares, mostCirculating)));
    }

    private void measure() {
        crowded = shares > sharesAtMost;
        surplus = buffers.length() - freeCount - wanted();
    }

    private void fill() throws RpmaException {
        measure();
        while (freeCount > 0 && buffers.length() - freeCount < wanted()) {
            int used = buffers.length() - freeCount;
            if (used >= 2 * allShares + spares && RegisteredMemory.usedBytes() > RegisteredMemory.MAX_BYTES / 2) {
                // Leave memory to send from.
                break;
            }
            RpmaByteBuf buf = used < FEWEST ? allocate() : tryAllocate();
            if (buf == null) {
                // There is not enough memory for the share of each connection, so unread messages no longer keep their
                // receives.
                sharesAtMost = Math.min(sharesAtMost, used / 2);
                break;
            }
            int slot = freeSlots[freeCount - 1];
            buffers.setRelease(slot, buf);
            freeCount--;
            try {
                repost(slot);
            } catch (RpmaException e) {
                giveUp(slot);
                throw e;
            }
        }
        measure();
    }

    @Override
    public void leave(int count) {
        int kept;
        synchronized (this) {
            shares -= count;
            connections -= count > 0 ? 1 : 0;
            measure();
            kept = retired ? Integer.MAX_VALUE : buffers.length() - freeCount;
        }
        boolean usable = completions != null && !completions.isEnded();
        synchronized (QueueGroup.LOCK) {
            if (--users > 0 || kept <= KEPT && completions == null) {
                return;
            }
            boolean reusable = usable && kept < Integer.MAX_VALUE;
            if (reusable && keepFor(kept <= KEPT ? SMALL_IDLE_NANOS : IDLE_NANOS) || !decideToEnd()) {
                return;
            }
        }
        end();
    }

    /** Keeps this unused queue, which its loop polls, for a while. Returns whether the loop still accepts tasks. */
    private boolean keepFor(long nanos) {
        keptUntil = System.nanoTime() + nanos;
        return endScheduled && endScheduledFor - keptUntil <= 0 || scheduleEnd(nanos);
    }

    /** Schedules the end of this queue. Returns whether the loop still accepts tasks. */
    private boolean scheduleEnd(long nanos) {
        endScheduledFor = System.nanoTime() + nanos;
        endScheduled = completions.schedule(this::endIfIdle, nanos);
        return endScheduled;
    }

    private void endIfIdle() {
        synchronized (QueueGroup.LOCK) {
            endScheduled = false;
            if (users > 0) {
                return;
            }
            long left = keptUntil - System.nanoTime();
            if (left > 0 && scheduleEnd(left) || !decideToEnd()) {
                return;
            }
        }
        end();
    }

    /** Excludes this queue, which has no users, from being chosen. Returns whether the caller has to end it. */
    private boolean decideToEnd() {
        group.remove(this);
        boolean first = !ending;
        ending = true;
        return first;
    }

    private void end() {
        if (completions == null) {
            destroy();
        } else {
            completions.end(this::destroy);
        }
    }

    @Override
    public void retire() {
        synchronized (this) {
            retired = true;
        }
        synchronized (QueueGroup.LOCK) {
            group.remove(this);
            if (users > 0 || !decideToEnd()) {
                return;
            }
        }
        end();
    }

    /** If there are no connections, the queue is destroyed instead of kept. */
    @Override
    public void loopEnded() {
        synchronized (QueueGroup.LOCK) {
            if (users > 0 || !decideToEnd()) {
                return;
            }
        }
        destroy();
    }

    private void destroy() {
        QueueGroup.forget(this);
        try {
            queue.close();
        } catch (RpmaException e) {
            // The queue is not used any more. A device may still write to the buffers, so they must not be used again.
            TransportLogger.LOGGER.error("A shared receive queue of {} could not be destroyed; its buffers are lost.",
                fabric, e);
            return;
        }
        LimboMemory.release(queue::isQuiescent, (long) (buffers.length() - freeCount) * messageBytes, this::releaseBuffers);
    }

    private void releaseBuffers() {
        for (int slot = 0; slot < buffers.length(); slot++) {
            RpmaByteBuf buf = buffers.getAndSet(slot, null);
            if (buf != null) {
                buf.release();
            }
        }
    }

    @Override
    public int most() {
        return buffers.length();
    }

    @Override
    public RpmaByteBuf buffer(int slot) {
        return buffers.getAcquire(slot);
    }

    @Override
    public void repost(int slot) throws RpmaException {
        if (surplus > 0 && tryGiveUp(slot)) {
            return;
        }
        RpmaByteBuf buf = buffers.getAcquire(slot);
        ProviderCalls.receive(queue, buf.slab().region(fabric), buf.block().offset, messageBytes, slot);
    }

    @Override
    public RpmaByteBuf exchange(int slot) throws RpmaException {
        RpmaByteBuf replacement = tryAllocate();
        if (replacement == null) {
            return null;
        }
        RpmaByteBuf buf = buffers.getAndSet(slot, replacement);
        try {
            repost(slot);
        } catch (RpmaException e) {
            // The message that arrived stays in its slot.
            buffers.setRelease(slot, buf);
            replacement.release();
            throw e;
        }
        return buf;
    }

    private synchronized boolean tryGiveUp(int slot) {
        if (surplus <= 0) {
            return false;
        }
        giveUp(slot);
        return true;
    }

    private synchronized void giveUp(int slot) {
        RpmaByteBuf buf = buffers.getAndSet(slot, null);
        freeSlots[freeCount++] = slot;
        measure();
        buf.release();
    }

    @Override
    public boolean isCrowded() {
        return crowded;
    }

    @Override
    public boolean isShared() {
        return true;
    }

    /**
     * Called when a connection ended in the middle of a message. A device that takes a receive and then loses the connection
     * may never complete it. It is impossible to find out which receive was lost, so another one is posted in its place. After
     * this has happened too often, new connections get another queue.
     */
    @Override
    public void endedMidway() {
        if (queue.returnsUnfinishedReceives()) {
            return;
        }
        synchronized (this) {
            if (retired) {
                return;
            }
            if (spares < allSpares) {
                spares++;
                try {
                    fill();
                } catch (RpmaException e) {
                    // There is no memory for an additional receive, so there may be one receive less. The next post reports it.
                    spares--;
                }
                return;
            }
            retired = true;
            // The remaining connections need only their shares; surplus receives are freed as they complete.
            spares = 0;
            measure();
        }
        synchronized (QueueGroup.LOCK) {
            group.remove(this);
        }
    }
}
