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

package io.rpma.netty.loop;

import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Tasks of other threads for an event loop, such as those by which a provider tells the loop that there is work. Each is run,
 * although the loop may refuse it: Netty limits the number of tasks of a loop if the application asks for that, and a provider
 * tells the loop only once.
 */
public final class PostedTasks {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.RpmaIoHandler");
    private static final Runnable NOTHING = () -> { };
    // By the threads of the loops that have begun and have not ended.
    private static final Map<ThreadAwareExecutor, PostedTasks> OF_LOOPS = new ConcurrentHashMap<>();

    private final ThreadAwareExecutor executor;
    // What the loop has refused. It looks here before each wait.
    private final Queue<Runnable> refused = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    /**
     * Creates an empty set.
     *
     * @param executor the thread of the loop
     */
    public PostedTasks(ThreadAwareExecutor executor) {
        this.executor = executor;
    }

    /** Returns the tasks of a loop, or {@code null} if it has not begun or has ended. Any thread. */
    static PostedTasks of(ThreadAwareExecutor loop) {
        return OF_LOOPS.get(loop);
    }

    /** Called by the thread of the loop when the loop begins, or is resumed by another thread. */
    public void begin() {
        OF_LOOPS.put(executor, this);
    }

    /** Called by the thread of the loop when the loop ends: runs what the loop has refused, and accepts nothing any more. */
    public void end() {
        OF_LOOPS.remove(executor, this);
        ended = true;
        runRefused();
    }

    /** Runs a task on the loop after the current ones. Any thread calls this method, and may hold locks of the provider. */
    void post(Runnable task) {
        if (!isAccepted(task)) {
            // A loop that has ended looks for the last events itself.
            runLater(task);
        }
    }

    /**
     * Runs a task that the loop has refused. Any thread.
     *
     * @return false if the loop has ended, and does not run the task
     */
    boolean runLater(Runnable task) {
        refused.add(task);
        if (ended && refused.remove(task)) {
            return false;
        }
        // If the loop accepts this task, it does not wait, or its wait ends, and it checks afterwards. If it refuses it, it has
        // others to run, and checks after them.
        isAccepted(NOTHING);
        return true;
    }

    private boolean isAccepted(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RuntimeException e) {
            // Usually a RejectedExecutionException; the handler of rejected tasks may throw any other.
            LOGGER.trace("An event loop has refused a task.", e);
            return false;
        }
    }

    /** Runs the tasks that the loop has refused. Called by its thread. Returns their number. */
    int runRefused() {
        int count = 0;
        for (Runnable task = refused.poll(); task != null; task = refused.poll()) {
            task.run();
            count++;
        }
        return count;
    }
}
