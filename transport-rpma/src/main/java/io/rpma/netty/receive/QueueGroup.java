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
import io.netty.util.NettyRuntime;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The shared receive queues that new connections of one fabric, message size and loop choose from. Connections are distributed
 * over them in turn. {@link #forget} and {@link #live} take {@link #LOCK}; the callers of all other methods hold it.
 */
final class QueueGroup {
    /** Guards the groups, and the number of users of each queue. */
    static final Object LOCK = new Object();
    /** The number of queues without a loop, so that many loops do not all post to one. */
    static final int SPREAD = Math.clamp(NettyRuntime.availableProcessors() / 4, 1, 8);

    /** After a large queue could not be created, the small one is used for this time. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Map<Key, QueueGroup> GROUPS = new HashMap<>();
    // All queues that have not been destroyed, including those that new connections do not choose any more.
    private static final Set<SharedReceives> LIVE = new HashSet<>();

    private final Key key;
    private final List<SharedReceives> queues = new ArrayList<>();
    private int next;
    // When no large queue could be created for lack of memory, or because of the limits of the device.
    private long failedAt;
    private boolean hasFailed;

    private record Key(Fabric fabric, int messageBytes, IoEventLoop loop) {
        // Written by hand, because the generated methods of a record are slow until they have been compiled.
        @Override
        public boolean equals(Object other) {
            return other instanceof Key that && that.fabric == fabric && that.messageBytes == messageBytes && that.loop == loop;
        }

        @Override
        public int hashCode() {
            return 31 * fabric.hashCode() + messageBytes + System.identityHashCode(loop);
        }
    }

    private QueueGroup(Key key) {
        this.key = key;
    }

    /**
     * Returns the group of a fabric, message size and loop.
     *
     * @param loop {@code null} for the queues that belong to no loop
     */
    static QueueGroup of(Fabric fabric, int messageBytes, IoEventLoop loop) {
        return GROUPS.computeIfAbsent(new Key(fabric, messageBytes, loop), QueueGroup::new);
    }

    IoEventLoop loop() {
        return key.loop;
    }

    /**
     * Returns the queue for the next connection. It is created if there are not enough. A loop has a small queue, and a large one
     * as well once the small one is full: the memory through which the messages of few connections pass stays small.
     */
    SharedReceives next() throws RpmaException {
        if (queues.size() < (key.loop == null ? SPREAD : 1)) {
            try {
                return add(new SharedReceives(key.fabric, key.messageBytes, this, false));
            } finally {
                removeIfEmpty();
            }
        }
        if (key.loop == null) {
            return queues.get(Math.floorMod(next++, queues.size()));
        }
        SharedReceives first = queues.getFirst();
        if (!first.isFull()) {
            return first;
        }
        if (queues.size() > 1) {
            return queues.getLast();
        }
        SharedReceives large = tryCreateLarge();
        return large == null ? first : add(large);
    }

    private SharedReceives tryCreateLarge() {
        if (hasFailed && System.nanoTime() - failedAt < RETRY_NANOS) {
            return null;
        }
        SharedReceives created = SharedReceives.tryCreateLarge(key.fabric, key.messageBytes, this);
        hasFailed = created == null;
        failedAt = System.nanoTime();
        return created;
    }

    private SharedReceives add(SharedReceives created) {
        queues.add(created);
        LIVE.add(created);
        return created;
    }

    /** Excludes a queue from being chosen. */
    void remove(SharedReceives queue) {
        queues.remove(queue);
        removeIfEmpty();
    }

    private void removeIfEmpty() {
        if (queues.isEmpty()) {
            GROUPS.remove(key, this);
        }
    }

    /** Called when a queue is destroyed; takes the lock itself. */
    static void forget(SharedReceives destroyed) {
        synchronized (LOCK) {
            LIVE.remove(destroyed);
        }
    }

    /** Returns the queues that have not been destroyed; takes the lock itself. */
    static List<SharedReceives> live() {
        synchronized (LOCK) {
            return List.copyOf(LIVE);
        }
    }
}
