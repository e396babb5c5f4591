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

package io.rpma.netty.connect;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks that block, each of which concerns one host, so that hosts which do not answer delay no others:
 *
 * <ul>
 * <li>A host whose last task failed, or that has had none, has at most one thread; any other has up to four while many threads
 *     are free.
 * <li>The hosts of the first kind together have at most three quarters of the threads.
 * <li>Hosts take turns; those whose last task succeeded come first.
 * <li>A task that is cancelled while it waits is removed completely.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class HostExecutor {
    /** The threads of one host whose last task succeeded, while less than half of all threads are busy. */
    private static final int THREADS_OF_A_GOOD_HOST = 4;
    /** The number of hosts above which a host without tasks is forgotten, even if its last task succeeded. */
    private static final int MAX_IDLE_HOSTS = 4_096;

    private final Executor threads;
    private final int maxThreads;
    private final int maxWaiting;
    private final Map<InetAddress, Host> hosts = new HashMap<>();
    // The hosts that have waiting tasks, each in the queue of its kind.
    private final ArrayDeque<Host> goodHosts = new ArrayDeque<>();
    private final ArrayDeque<Host> otherHosts = new ArrayDeque<>();
    private int busy;
    private int busyWithOthers;
    private int waiting;

    /** A task. Its success determines how its host is treated afterwards. */
    interface Work {
        /** Performs the task; blocks. Returns whether the host answered. Must not throw. */
        boolean run();
    }

    /** A host and its tasks. */
    private static final class Host {
        private final InetAddress address;
        // In the order in which they were submitted.
        private final LinkedHashSet<Task> tasks = new LinkedHashSet<>();
        private int running;
        private boolean good;
        private boolean queued;

        Host(InetAddress address) {
            this.address = address;
        }
    }

    /** A submitted task. */
    final class Task {
        private final Host host;
        private final Work work;
        // Whether the last task of the host had succeeded when this task began.
        private boolean ofGoodHost;

        private Task(Host host, Work work) {
            this.host = host;
            this.work = work;
        }

        /** Removes the task, unless it has begun. */
        void cancel() {
            synchronized (HostExecutor.this) {
                if (host.tasks.remove(this)) {
                    waiting--;
                    if (host.tasks.isEmpty()) {
                        requeue(host);
                        forgetIfIdle(host);
                    }
                }
            }
        }
    }

    /**
     * Creates an executor.
     *
     * @param threads runs each task immediately on a thread of its own
     * @param maxThreads how many tasks run at the same time
     * @param maxWaiting how many more can wait, at most a quarter of them for one host
     */
    HostExecutor(Executor threads, int maxThreads, int maxWaiting) {
        this.threads = threads;
        this.maxThreads = maxThreads;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Submits a task.
     *
     * @param address the host that it concerns
     * @throws RejectedExecutionException if too many tasks wait, for this host or in total; the message says how many
     */
    Task execute(InetAddress address, Work work) {
        Task task;
        List<Task> ready;
        synchronized (this) {
            Host host = hosts.computeIfAbsent(address, Host::new);
            if (waiting >= maxWaiting || host.tasks.size() >= maxWaiting / 4) {
                forgetIfIdle(host);
                throw new RejectedExecutionException("the connection to " + address.getHostAddress() + " cannot be prepared: "
                    + host.tasks.size() + " other connections to this host and " + waiting + " in total are waiting for the"
                    + " device to resolve their address and route, and the limits are " + maxWaiting / 4 + " and " + maxWaiting
                    + "; connect less often to hosts that do not answer, or lower CONNECT_TIMEOUT_MILLIS");
            }
            task = new Task(host, work);
            host.tasks.add(task);
            waiting++;
            enqueue(host);
            ready = takeAllReady();
        }
        startAll(ready);
        return task;
    }

    private void startAll(List<Task> ready) {
        for (int i = 0; i < ready.size(); i++) {
            Task task = ready.get(i);
            try {
                threads.execute(() -> runFrom(task));
            } catch (Throwable e) {
                // No thread can be created. Running threads take over the tasks; if there are none, the next call of execute()
                // does.
                giveBack(ready.subList(i, ready.size()));
                return;
            }
        }
    }

    private synchronized void giveBack(List<Task> tasks) {
        for (Task task : tasks) {
            ended(task);
            task.host.tasks.add(task);
            waiting++;
            enqueue(task.host);
        }
    }

    /** Runs a task, and then further tasks while some may begin. */
    private void runFrom(Task first) {
        Task task = first;
        while (task != null) {
            boolean answered = task.work.run();
            List<Task> ready;
            synchronized (this) {
                ended(task);
                task.host.good = answered;
                requeue(task.host);
                forgetIfIdle(task.host);
                ready = takeAllReady();
            }
            task = ready.isEmpty() ? null : ready.get(0);
            if (ready.size() > 1) {
                startAll(ready.subList(1, ready.size()));
            }
        }
    }

    // ---- under the lock ----

    private void ended(Task task) {
        busy--;
        task.host.running--;
        if (!task.ofGoodHost) {
            busyWithOthers--;
        }
    }

    private void enqueue(Host host) {
        if (!host.queued && !host.tasks.isEmpty()) {
            host.queued = true;
            (host.good ? goodHosts : otherHosts).add(host);
        }
    }

    /** Moves a host to the queue of its kind, which may have changed. */
    private void requeue(Host host) {
        if (host.queued) {
            host.queued = false;
            if (!goodHosts.remove(host)) {
                otherHosts.remove(host);
            }
        }
        enqueue(host);
    }

    private void forgetIfIdle(Host host) {
        if (host.tasks.isEmpty() && host.running == 0 && (!host.good || hosts.size() > MAX_IDLE_HOSTS)) {
            hosts.remove(host.address, host);
        }
    }

    /** Takes the tasks that may begin now; their threads count as busy from here on. */
    private List<Task> takeAllReady() {
        List<Task> ready = new ArrayList<>(1);
        take(goodHosts, ready);
        take(otherHosts, ready);
        return ready;
    }

    private void take(ArrayDeque<Host> queue, List<Task> ready) {
        // Each host gets its turn; hosts that may not begin a task move to the end of the queue.
        int passedOver = 0;
        while (passedOver < queue.size() && busy < maxThreads && (queue == goodHosts || busyWithOthers < maxForOthers())) {
            Host host = queue.poll();
            if (!mayBegin(host)) {
                queue.add(host);
                passedOver++;
                continue;
            }
            Task task = host.tasks.iterator().next();
            host.tasks.remove(task);
            waiting--;
            begin(task);
            ready.add(task);
            if (host.tasks.isEmpty()) {
                host.queued = false;
            } else {
                queue.add(host);
            }
            passedOver = 0;
        }
    }

    private boolean mayBegin(Host host) {
        if (!host.good) {
            return host.running == 0;
        }
        return host.running == 0 || host.running < THREADS_OF_A_GOOD_HOST && busy < maxThreads / 2;
    }

    private int maxForOthers() {
        return maxThreads * 3 / 4;
    }

    private void begin(Task task) {
        task.ofGoodHost = task.host.good;
        task.host.running++;
        busy++;
        if (!task.ofGoodHost) {
            busyWithOthers++;
        }
    }

    // ---- for tests ----

    /** Returns the number of waiting tasks. */
    synchronized int waiting() {
        return waiting;
    }

    /** Returns the number of known hosts. */
    synchronized int hosts() {
        return hosts.size();
    }
}
