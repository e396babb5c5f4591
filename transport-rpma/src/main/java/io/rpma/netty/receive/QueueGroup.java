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

/**
 * The shared receive queues that new connections of one fabric, message size and loop choose from. Connections are distributed
 * over them in turn. {@link #forget} and {@link #live} take {@link #LOCK}; the callers of all other methods hold it.
 */
final class QueueGroup {
    /** Guards the groups, and the number of users of each queue. */
    static final Object LOCK = new Object();
    /** The number of queues without a loop, so that many loops do not all post to one. */
    static final int SPREAD = Math.clamp(NettyRuntime.availableProcessors() / 4, 1, 8);

    private static final Map<Key, QueueGroup> GROUPS = new HashMap<>();
    // All queues that have not been destroyed, including those that new connections do not choose any more.
    private static final Set<SharedReceives> LIVE = new HashSet<>();

    private final Key key;
    private final List<SharedReceives> queues = new ArrayList<>();
    private int next;

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

    /** Returns the queue for the next connection. It is created if there are not enough. */
    SharedReceives next() throws RpmaException {
        if (queues.size() >= (key.loop == null ? SPREAD : 1)) {
            return queues.get(next++ % queues.size());
        }
        try {
            SharedReceives created = new SharedReceives(key.fabric, key.messageBytes, this);
            queues.add(created);
            LIVE.add(created);
            return created;
        } finally {
            removeIfEmpty();
        }
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
