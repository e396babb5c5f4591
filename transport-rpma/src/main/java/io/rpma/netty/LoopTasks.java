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

package io.rpma.netty;

import io.netty.channel.EventLoop;
import io.rpma.netty.loop.EventLoops;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The tasks that other threads have for a channel. They run on the event loop that the channel is registered with, and wait for
 * the next registration while there is none. Only {@link #run} may be called on any thread.
 *
 * <p>{@code Channel.eventLoop()} is not sufficient for this: after the channel has been deregistered it returns the previous
 * event loop, and the next one may begin to use the channel while a task is running there.
 */
final class LoopTasks {
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    // Null while the channel is not registered.
    private volatile EventLoop loop;
    private volatile boolean closed;

    /**
     * Runs a task on the event loop of the channel, immediately if this is its thread. If the channel has been closed, the task
     * runs immediately on any thread; it must not change anything then.
     */
    void run(Runnable task) {
        EventLoop current = loop;
        if (closed || current != null && current.inEventLoop()) {
            task.run();
            return;
        }
        waiting.add(task);
        if (closed) {
            runAll();
        } else {
            wake(loop);
        }
    }

    private void wake(EventLoop registered) {
        // If there is none, enter() or close() finds the task. A loop that has ended has closed the channel, or closes it.
        if (registered != null) {
            EventLoops.execute(registered, () -> runWhileOn(registered));
        }
    }

    private void runWhileOn(EventLoop registered) {
        while (loop == registered) {
            Runnable task = waiting.poll();
            if (task == null) {
                return;
            }
            task.run();
        }
    }

    private void runAll() {
        for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
            task.run();
        }
    }

    /** Called on an event loop when the channel has been registered with it. The tasks run after the current one. */
    void enter(EventLoop registered) {
        loop = registered;
        if (!waiting.isEmpty()) {
            wake(registered);
        }
    }

    /** Called on the event loop that the channel leaves. */
    void leave() {
        loop = null;
    }

    /** Called when the channel has been closed: runs the tasks, which find that out. */
    void close() {
        closed = true;
        runAll();
    }
}
