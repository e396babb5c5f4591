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

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.WorkCompletions;

/**
 * The registration of one handle on its event loop. It adds the handle's descriptors to the epoll set, and its completion queue
 * to the hot ones; if the handle throws, it ends the handle.
 *
 * <p>{@link #cancel()}, {@link #isValid()} and {@link #attachment()} may be called on any thread, and the only field that they
 * change is volatile. Everything else is used by the thread of the loop alone.
 */
public final class RpmaRegistration implements IoRegistration, DescriptorWatch.Owner {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.RpmaIoHandler");

    final RpmaIoHandle handle;
    /** The place of its queue in the {@link HotQueues}, which set it; -1 if the queue is cold. */
    int hotIndex = -1;
    /** Whether a poll of its queue that finds nothing makes system calls. */
    boolean pollsBySystemCalls;
    /** How often in a row the queue was empty, while it is hot. */
    int emptyPolls;
    /** Whether the descriptor of its queue could not be created or watched when the queue was last to be armed. */
    boolean isUnwatched;
    private final EpollSet epoll;
    private final Registrations registrations;
    private final HotQueues hot;
    private boolean opened;
    private CompletionQueue queue;
    private DescriptorWatch[] events;
    private DescriptorWatch completions;
    // Whether the queue runs a task instead of signalling a descriptor.
    private boolean hasTask;
    private Runnable onEvents;
    // Whether epoll has reported the descriptor of the queue since the queue was last armed.
    private boolean signalled;
    private volatile boolean valid = true;

    /**
     * Creates the registration.
     *
     * @param epoll the epoll set of the loop
     * @param hot the hot queues of the loop
     * @param registrations all registrations of the loop, from which this one is removed when it is cancelled
     */
    public RpmaRegistration(RpmaIoHandle handle, EpollSet epoll, HotQueues hot, Registrations registrations) {
        this.handle = handle;
        this.epoll = epoll;
        this.hot = hot;
        this.registrations = registrations;
    }

    int poll(WorkCompletions batch) {
        try {
            return handle.poll(batch);
        } catch (Throwable e) {
            failed(e);
            return 1;
        }
    }

    /**
     * Arms the queue and polls it once more. Returns whether there was work, or whether the queue is no longer armed: the code
     * that handles completions may run epoll ({@link EpollSet#catchUp}), which reports each event only once. If the descriptor of
     * the queue cannot be watched, the queue is only polled, and {@link #isUnwatched} is set.
     */
    boolean armAndPoll(WorkCompletions batch) {
        try {
            if (completions != null || hasTask || watchQueue()) {
                signalled = false;
                queue.consumeEvent();
            }
        } catch (Throwable e) {
            failed(e);
            return true;
        }
        return poll(batch) > 0 || signalled;
    }

    /**
     * Has the queue report completions: by a task, or by its descriptor, which is added to the epoll set. This happens only when
     * the queue is armed for the first time, because a connection whose completions arrive immediately, or in a shared queue,
     * never needs the descriptor. Returns whether it succeeded. It may not, because the process has no descriptors left; the
     * connection is established and must not suffer.
     */
    private boolean watchQueue() {
        try {
            int fd = queue.fd(() -> epoll.posted().post(this::completionsPosted));
            if (fd == Connection.NO_DESCRIPTOR) {
                hasTask = true;
            } else {
                completions = epoll.newWatch(this, fd, false);
            }
            isUnwatched = false;
        } catch (IllegalStateException e) {
            isUnwatched = true;
            hot.logUnwatched(handle, e);
        }
        return !isUnwatched;
    }

    @Override
    public void completionsReady() {
        signalled = true;
        heat();
    }

    private void completionsPosted() {
        if (hasTask) {
            completionsReady();
        }
    }

    private void eventsPosted() {
        if (valid && events != null) {
            eventsReady();
        }
    }

    /** Makes the queue hot, if there is one. */
    void heat() {
        if (queue != null) {
            hot.heat(this);
        }
    }

    @Override
    public void eventsReady() {
        try {
            handle.eventsReady();
        } catch (Throwable e) {
            failed(e);
        }
    }

    /**
     * Handles an exception of a handle, which must not throw: the connection of the handle is closed, and the loop
     * continues.
     */
    private void failed(Throwable e) {
        LOGGER.error("{} failed; its connection is closed.", handle, e);
        try {
            handle.failed(e);
        } catch (Exception suppressed) {
            LOGGER.error("{} could not be closed.", handle, suppressed);
        }
        handle.destroy();
        cancel();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T attachment() {
        return (T) epoll;
    }

    @Override
    public long submit(IoOps ops) {
        if (!valid) {
            return -1;
        }
        switch ((RpmaIoOps) ops) {
            case OPEN -> open();
            case CLOSE -> close();
            case WATCH -> watchAgain();
            case HOT -> heat();
        }
        return 0;
    }

    private void open() {
        if (opened) {
            return;
        }
        opened = true;
        epoll.opened(this);
        queue = handle.completionQueue();
        if (queue != null) {
            pollsBySystemCalls = queue.pollsBySystemCalls();
            // The queue is polled now, which finds earlier completions; later ones signal the descriptor.
            hot.heat(this);
        }
    }

    /** Adds the event descriptors to the epoll set, which reports events that have occurred before. */
    void watch() {
        if (!opened || events != null || !handle.hasEvents()) {
            return;
        }
        if (onEvents == null) {
            onEvents = () -> epoll.posted().post(this::eventsPosted);
        }
        try {
            watch(handle.eventFds(onEvents));
        } catch (Throwable e) {
            failed(e);
        }
    }

    private void watch(int[] fds) {
        events = new DescriptorWatch[fds.length];
        for (int i = 0; i < fds.length; i++) {
            events[i] = epoll.newWatch(this, fds[i], true);
        }
    }

    /** Watches what has to be watched now, if that has changed. */
    private void watchAgain() {
        if (events == null) {
            return;
        }
        try {
            int[] fds = handle.eventFds(onEvents);
            boolean isSame = fds.length == events.length;
            for (int i = 0; i < fds.length && isSame; i++) {
                isSame = fds[i] == events[i].fd().intValue();
            }
            if (!isSame) {
                unwatchEvents();
                watch(fds);
            }
        } catch (Throwable e) {
            failed(e);
        }
    }

    private void unwatchEvents() {
        if (events != null) {
            for (DescriptorWatch each : events) {
                if (each != null) {
                    each.cancel();
                }
            }
            events = null;
        }
    }

    private void close() {
        hot.cool(this);
        opened = false;
        queue = null;
        hasTask = false;
        isUnwatched = false;
        if (completions != null) {
            completions.cancel();
            completions = null;
        }
        unwatchEvents();
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public boolean cancel() {
        if (!valid) {
            return false;
        }
        valid = false;
        if (registrations.executor().isExecutorThread(Thread.currentThread())) {
            cancelOnLoop();
        } else {
            // A loop that has ended accepts no task, and has removed the registration.
            epoll.posted().post(this::cancelOnLoop);
        }
        return true;
    }

    /**
     * Ends the handle and its registration while the loop ends. This includes a registration that another thread has
     * cancelled: the task that was to remove it does not run any more.
     */
    void destroy() {
        try {
            handle.destroy();
        } catch (RuntimeException e) {
            LOGGER.error("{} failed while its loop ended.", handle, e);
        } finally {
            valid = false;
            cancelOnLoop();
        }
    }

    private void cancelOnLoop() {
        close();
        registrations.remove(this);
    }
}
