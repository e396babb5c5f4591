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
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks that block, each of which concerns one port of one host, so that hosts and ports which do not answer delay no
 * others:
 *
 * <ul>
 * <li>A port is good if its last task succeeded. A port that has had no task is good if the last task of its host succeeded.
 * <li>A good port has up to 32 threads. A port that is not good has one, and all ports of a host that are not good have up to
 *     four together.
 * <li>While half of all threads are busy, no host gets a second thread.
 * <li>The ports of all hosts that are not good together have up to three quarters of the threads.
 * <li>Ports take turns; good ones come first.
 * <li>A task that is cancelled while it waits is removed completely.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class HostExecutor {
    /** So many because preparing a connection takes round trips to its host, which may be far away. */
    private static final int THREADS_OF_A_GOOD_PORT = 32;
    /** The threads of one host for all of its ports that are not good. */
    private static final int THREADS_OF_OTHER_PORTS = 4;
    /** The number of ports above which a port without tasks is forgotten, even if its last task succeeded. */
    private static final int MAX_IDLE_PORTS = 4_096;

    private final Executor threads;
    private final int maxThreads;
    private final int maxWaiting;
    private final Map<InetAddress, Host> hosts = new HashMap<>();
    private final Map<InetSocketAddress, Port> ports = new HashMap<>();
    // The ports that have waiting tasks, each in the queue of its kind.
    private final ArrayDeque<Port> goodPorts = new ArrayDeque<>();
    private final ArrayDeque<Port> otherPorts = new ArrayDeque<>();
    private int busy;
    private int busyWithOthers;
    private int waiting;

    /** A task. Its success determines how its port is treated afterwards. */
    interface Work {
        /** Performs the task; blocks. Returns whether the host answered. Must not throw. */
        boolean run();
    }

    /** A host, as long as one of its ports is known. */
    private static final class Host {
        private int ports;
        private int running;
        private int runningOthers;
        private int waiting;
        private boolean good;
    }

    /** A port of a host, and its tasks. */
    private static final class Port {
        private final InetSocketAddress address;
        private final Host host;
        // In the order in which they were submitted.
        private final LinkedHashSet<Task> tasks = new LinkedHashSet<>();
        private int running;
        private boolean good;
        private boolean queued;

        Port(InetSocketAddress address, Host host) {
            this.address = address;
            this.host = host;
            good = host.good;
        }
    }

    /** A submitted task. */
    final class Task {
        private final Port port;
        private final Work work;
        // Whether the port was good when this task began.
        private boolean ofGoodPort;

        private Task(Port port, Work work) {
            this.port = port;
            this.work = work;
        }

        /** Removes the task, unless it has begun. */
        void cancel() {
            synchronized (HostExecutor.this) {
                if (port.tasks.contains(this)) {
                    remove(this);
                    if (port.tasks.isEmpty()) {
                        requeue(port);
                        forgetIfIdle(port);
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
     * @param address the host and the port that it concerns; the address is resolved
     * @throws RejectedExecutionException if too many tasks wait, for this host or in total, and the message says how many; or if
     *     no thread can be created and none is running
     */
    Task execute(InetSocketAddress address, Work work) {
        Task task;
        List<Task> ready;
        synchronized (this) {
            Port port = ports.get(address);
            if (port == null) {
                port = add(address);
            }
            if (waiting >= maxWaiting || port.host.waiting >= maxWaiting / 4) {
                int ofHost = port.host.waiting;
                forgetIfIdle(port);
                throw new RejectedExecutionException("the connection to " + address.getAddress().getHostAddress()
                    + " cannot be prepared: " + ofHost + " other connections to this host and " + waiting
                    + " in total are waiting for the device to resolve their address and route, and the limits are "
                    + maxWaiting / 4 + " and " + maxWaiting + "; connect less often to hosts that do not answer, or lower"
                    + " CONNECT_TIMEOUT_MILLIS");
            }
            task = new Task(port, work);
            add(task);
            // If the new task may not begin, no other may: they all have been considered when the last one ended.
            ready = isThreadFree(port.good) && mayBegin(port) ? takeAllReady() : List.of();
        }
        Throwable failure = startAll(ready);
        if (failure != null && withdraw(task)) {
            throw new RejectedExecutionException("the connection to " + address.getAddress().getHostAddress()
                + " cannot be prepared, because no thread can be created for it: " + failure.getMessage(), failure);
        }
        return task;
    }

    /** Runs each task on a thread of its own. Returns why a thread could not be created, or {@code null}. */
    private Throwable startAll(List<Task> ready) {
        for (int i = 0; i < ready.size(); i++) {
            Task task = ready.get(i);
            try {
                threads.execute(() -> runFrom(task));
            } catch (Throwable e) {
                // Running threads take over the tasks.
                giveBack(ready.subList(i, ready.size()));
                return e;
            }
        }
        return null;
    }

    private synchronized void giveBack(List<Task> tasks) {
        for (Task task : tasks) {
            ended(task);
            add(task);
        }
    }

    /** Removes a task that could not be given a thread, unless a running thread will take it over. Returns whether it did. */
    private synchronized boolean withdraw(Task task) {
        if (busy > 0 || !task.port.tasks.contains(task)) {
            return false;
        }
        task.cancel();
        return true;
    }

    /** Runs a task, and then further tasks while some may begin. */
    private void runFrom(Task first) {
        Task task = first;
        while (task != null) {
            boolean answered = task.work.run();
            List<Task> ready;
            synchronized (this) {
                ended(task);
                task.port.good = answered;
                task.port.host.good = answered;
                requeue(task.port);
                forgetIfIdle(task.port);
                ready = takeAllReady();
            }
            task = ready.isEmpty() ? null : ready.get(0);
            if (ready.size() > 1) {
                startAll(ready.subList(1, ready.size()));
            }
        }
    }

    // ---- under the lock ----

    private Port add(InetSocketAddress address) {
        Host host = hosts.computeIfAbsent(address.getAddress(), any -> new Host());
        Port port = new Port(address, host);
        ports.put(address, port);
        host.ports++;
        return port;
    }

    private void add(Task task) {
        task.port.tasks.add(task);
        task.port.host.waiting++;
        waiting++;
        enqueue(task.port);
    }

    private void remove(Task task) {
        task.port.tasks.remove(task);
        task.port.host.waiting--;
        waiting--;
    }

    private void ended(Task task) {
        busy--;
        task.port.running--;
        task.port.host.running--;
        if (!task.ofGoodPort) {
            task.port.host.runningOthers--;
            busyWithOthers--;
        }
    }

    private void enqueue(Port port) {
        if (!port.queued && !port.tasks.isEmpty()) {
            port.queued = true;
            (port.good ? goodPorts : otherPorts).add(port);
        }
    }

    /** Moves a port to the queue of its kind, which may have changed. */
    private void requeue(Port port) {
        if (port.queued) {
            port.queued = false;
            if (!goodPorts.remove(port)) {
                otherPorts.remove(port);
            }
        }
        enqueue(port);
    }

    private void forgetIfIdle(Port port) {
        if (port.tasks.isEmpty() && port.running == 0 && (!port.good || ports.size() > MAX_IDLE_PORTS)
                && ports.remove(port.address, port) && --port.host.ports == 0) {
            hosts.remove(port.address.getAddress(), port.host);
        }
    }

    /** Takes the tasks that may begin now; their threads count as busy from here on. */
    private List<Task> takeAllReady() {
        List<Task> ready = new ArrayList<>(1);
        take(goodPorts, ready);
        take(otherPorts, ready);
        return ready;
    }

    private void take(ArrayDeque<Port> queue, List<Task> ready) {
        // Each port gets its turn; ports that may not begin a task move to the end of the queue.
        int passedOver = 0;
        while (passedOver < queue.size() && isThreadFree(queue == goodPorts)) {
            Port port = queue.poll();
            if (!mayBegin(port)) {
                queue.add(port);
                passedOver++;
                continue;
            }
            Task task = port.tasks.iterator().next();
            remove(task);
            begin(task);
            ready.add(task);
            if (port.tasks.isEmpty()) {
                port.queued = false;
            } else {
                queue.add(port);
            }
            passedOver = 0;
        }
    }

    /** Returns whether a port of the given kind may have one more thread, as far as the number of all threads is concerned. */
    private boolean isThreadFree(boolean good) {
        return busy < maxThreads && (good || busyWithOthers < maxThreads * 3 / 4);
    }

    /** Returns whether a port may have one more thread, as far as its host is concerned. */
    private boolean mayBegin(Port port) {
        if (port.host.running == 0) {
            return true;
        }
        return busy < maxThreads / 2 && (port.good ? port.running < THREADS_OF_A_GOOD_PORT
            : port.running == 0 && port.host.runningOthers < THREADS_OF_OTHER_PORTS);
    }

    private void begin(Task task) {
        task.ofGoodPort = task.port.good;
        task.port.running++;
        task.port.host.running++;
        busy++;
        if (!task.ofGoodPort) {
            task.port.host.runningOthers++;
            busyWithOthers++;
        }
    }

    // ---- for tests ----

    /** Returns the number of waiting tasks. */
    synchronized int waiting() {
        return waiting;
    }

    /** Returns the number of known ports. */
    synchronized int ports() {
        return ports.size();
    }

    /** Returns the number of known hosts. */
    synchronized int hosts() {
        return hosts.size();
    }
}
