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
package io.rpma.soft.process;

import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.SharedMemory;
import io.rpma.soft.shared.SharedReceives;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The initiator's views of the shared receive queues of one process. A queue arrives as files; the view is created when the first
 * connection uses the queue, and closed when the last connection has released it and the other process has withdrawn it. Of the
 * queues of this process itself there are views as well, without files. All methods are called under the lock of the {@link
 * RemoteProcess}.
 */
final class ReceiveQueueViews {
    private final Map<Integer, Files> files = new HashMap<>();
    private final Map<Integer, SharedReceives> views = new HashMap<>();
    // The shared receive queues that the other process has not withdrawn; this object holds one use of each view.
    private final Set<Integer> offered = new HashSet<>();

    private record Files(SharedMemory posted, SharedMemory memory, EventPipe event) {
        void release() {
            posted.release();
            memory.release();
            if (event != null) {
                event.release();
            }
        }
    }

    /** Returns whether a queue has been received. */
    boolean has(int id) {
        return views.containsKey(id) || files.containsKey(id);
    }

    /** Adds the files of a queue that has been received, and takes ownership of them. */
    void add(int id, SharedMemory posted, SharedMemory memory, EventPipe event) {
        files.put(id, new Files(posted, memory, event));
    }

    /** Undoes {@link #add}. */
    void giveBack(int id) {
        files.remove(id).release();
    }

    /** Removes a queue that the other process has withdrawn. A view that is in use stays until its last user releases it. */
    void withdraw(int id) {
        Files unused = files.remove(id);
        if (unused != null) {
            unused.release();
        }
        if (offered.remove(id)) {
            release(views.get(id));
        }
    }

    /**
     * Returns the view of a queue that has been received, and adds a user to it; {@code null} if the queue has not been received,
     * or is not as the arguments describe it.
     */
    SharedReceives view(int id, int capacity, boolean hasCompletions) {
        SharedReceives known = views.get(id);
        if (known == null) {
            Files found = files.get(id);
            if (found == null || found.memory().size() != SharedReceives.size(capacity)
                || found.posted().size() != SharedReceives.postedSize(capacity)) {
                return null;
            }
            files.remove(id);
            known = new SharedReceives(id, found.posted(), found.memory(), capacity, found.event());
            known.addUser();
            views.put(id, known);
            offered.add(id);
        }
        if (known.capacity() != capacity || hasCompletions != (known.doorbell() != null)) {
            return null;
        }
        known.addUser();
        return known;
    }

    /** Returns the view of a queue of this process itself, and adds a user to it; {@code null} if the queue has been closed. */
    SharedReceives view(LocalReceiveQueue queue) {
        SharedReceives view = views.get(queue.id());
        if (view == null) {
            view = queue.view();
            if (view == null) {
                return null;
            }
            views.put(queue.id(), view);
        }
        view.addUser();
        return view;
    }

    /** Removes a user of a view; the last one closes it. */
    void release(SharedReceives view) {
        if (view.removeUser()) {
            views.remove(view.id(), view);
            view.close();
        }
    }

    /** Closes all views, and releases the files of which there is none. */
    void close() {
        views.values().forEach(SharedReceives::close);
        files.values().forEach(Files::release);
    }
}
