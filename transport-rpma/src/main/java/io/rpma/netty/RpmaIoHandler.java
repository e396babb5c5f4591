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

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.CompletionQueue;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import io.rpma.WorkCompletions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

/**
 * The {@link IoHandler} of this transport. It multiplexes completion queues and connection events with epoll, and wraps Netty's
 * own epoll handler, so that epoll's TCP, UDP and domain channels can run on the same loop.
 *
 * <p>A queue is <i>hot</i> while completions arrive: it is then polled in every turn, without a system call. Otherwise it is
 * <i>cold</i>: it is armed, its descriptor is in the epoll set, and it costs nothing. Before the loop blocks it arms every hot
 * queue and polls it once more, so that no completion is missed between the last poll and the arming. The queue of a connection
 * from which no completion is expected is neither hot nor armed ({@link RpmaIoHandle#awaitsCompletions}): the messages of most
 * streams complete in one queue for all streams of the loop ({@link LoopCompletions}).
 */
public final class RpmaIoHandler implements IoHandler {
    /** How long a loop that ends continues to deliver the data of closed channels. */
    private static final long FINISH_NANOS = 500_000_000;
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaIoHandler.class);

    private static final int BATCH = 64;
    /** While queues are hot, epoll is run at this interval. */
    private static final long EPOLL_INTERVAL_NANOS = 20_000;
    /** If epoll has not run for this long, connections may have ended without the loop having noticed. */
    private static final long BEHIND_NANOS = 1_000_000;
    /** A queue that has been empty this many times in a row is no longer polled. */
    private static final int COLD_AFTER_EMPTY_POLLS = 512;

    private final ThreadAwareExecutor executor;
    private final IoHandler epoll;
    private final SpinPolicy spin;
    private RunQueue runQueue;
    private final WorkCompletions batch = new WorkCompletions(BATCH);
    private final Set<Registration> registrations = new LinkedHashSet<>();
    private final NonBlocking nonBlocking = new NonBlocking();
    private Registration[] hot = new Registration[16];
    // Registrations that were opened since epoll last ran. One that is closed before epoll runs again is never added to the
    // epoll set.
    private final ArrayList<Registration> fresh = new ArrayList<>();
    private final RpmaLoopCounters counters = new RpmaLoopCounters();
    // A single object, because a loop that is suspended and resumes registers the hook again.
    private final Runnable shutdownHook = this::prepareToDestroy;
    private int hotCount;
    private int active;
    private int dispatched;
    // Used by the thread of the loop; set by a test as well, on this thread, to make the loop look as if it had just run epoll.
    long lastEpollNanos;

    private RpmaIoHandler(ThreadAwareExecutor executor, IoHandler epoll, RpmaPolling polling) {
        this.executor = executor;
        this.epoll = epoll;
        spin = new SpinPolicy(polling);
    }

    /**
     * Returns the factory of handlers, for a {@code MultiThreadIoEventLoopGroup} or any other user of a factory. The loops use
     * the polling mode of {@code -Dio.rpma.netty.polling}.
     *
     * @throws RpmaUnavailableException if the JVM refuses native access; the message names the flag
     * @throws UnsatisfiedLinkError if Netty's native epoll library is not available
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(RpmaPolling.byDefault());
    }

    /**
     * Returns the factory of handlers.
     *
     * @param polling what their loops do while they are idle
     * @throws RpmaUnavailableException if the JVM refuses native access; the message names the flag
     * @throws UnsatisfiedLinkError if Netty's native epoll library is not available
     */
    public static IoHandlerFactory newFactory(RpmaPolling polling) {
        Objects.requireNonNull(polling, "polling");
        NativeAccess.ensure(Epoll.unavailabilityCause());
        chooseProvider();
        IoHandlerFactory epoll = EpollIoHandler.newFactory();
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new RpmaIoHandler(executor, epoll.newHandler(executor), polling);
            }

            @Override
            public boolean isChangingThreadSupported() {
                return true;
            }
        };
    }

    /**
     * Chooses the provider on this thread. The choice reads files and requests random numbers, which no event loop should wait
     * for.
     */
    private static void chooseProvider() {
        try {
            Rpma.provider();
        } catch (RpmaUnavailableException e) {
            LOGGER.debug("There is no provider. What binds or connects a channel is told so.", e);
        }
    }

    @Override
    public void initialize() {
        epoll.initialize();
        closeRunQueue();
        runQueue = RunQueue.ofThisThread();
        RpmaByteBufAllocator.DEFAULT.beginMagazines();
        counters.name(Thread.currentThread().getName());
        RpmaMetrics.began(counters);
        if (executor instanceof SingleThreadEventExecutor loop) {
            // Netty calls prepareToDestroy() before the tasks of a turn, and only if the loop is shutting down by then. Without
            // a quiet period, a turn during which the shutdown begins is the last one, and the loop's channels would never be
            // closed.
            loop.addShutdownHook(shutdownHook);
        }
    }

    private void closeRunQueue() {
        if (runQueue != null) {
            runQueue.close();
        }
    }

    @Override
    public int run(IoHandlerContext context) {
        active = 0;
        counters.turns++;
        long started = context.shouldReportActiveIoTime() ? System.nanoTime() : 0;
        int handled = pollHot();
        if (started != 0 && handled > 0) {
            context.reportActiveIoTime(System.nanoTime() - started);
        }
        if (handled > 0 || !context.canBlock()) {
            long now = System.nanoTime();
            if (hotCount == 0 || now - lastEpollNanos >= EPOLL_INTERVAL_NANOS) {
                lastEpollNanos = now;
                runEpoll(nonBlocking.of(context));
            }
            return active;
        }
        long idleSince = System.nanoTime();
        boolean polled = hotCount > 0 && spin.pays() && (spin.isEndless() || !runQueue.isCrowded(idleSince));
        if (polled) {
            counters.spins++;
            if (spinUntilWork(context, idleSince)) {
                spin.paid();
                counters.spinsPaid++;
                return active;
            }
            spin.failed();
        }
        if (arm() || !context.canBlock()) {
            return active;
        }
        counters.blocks++;
        runEpoll(context);
        lastEpollNanos = System.nanoTime();
        if (hotCount > 0) {
            // A completion ended the wait. Record whether polling would have seen it.
            if (!polled) {
                spin.blocked(lastEpollNanos - idleSince);
            }
            pollHot();
        }
        return active;
    }

    /**
     * Returns whether a task or a handler has blocked this loop for so long that a connection may have ended unnoticed; called
     * on the event loop. Costs one reading of the clock.
     */
    boolean isBehind() {
        return System.nanoTime() - lastEpollNanos > BEHIND_NANOS;
    }

    /**
     * Handles the pending events of connections, without waiting, if epoll has not run for a long time; called on the event
     * loop during a turn. Otherwise each connection that is written to would have to check its own events.
     */
    void catchUp() {
        if (nonBlocking.context != null && isBehind()) {
            lastEpollNanos = System.nanoTime();
            runEpoll(nonBlocking);
        }
    }

    private void runEpoll(IoHandlerContext context) {
        for (int i = 0; i < fresh.size(); i++) {
            fresh.get(i).watch();
        }
        fresh.clear();
        // The handles of this handler are counted in Watch.handle(); the others belong to epoll's own channels.
        dispatched = 0;
        int ready = epoll.run(context);
        active += ready - dispatched;
    }

    /** Polls every hot queue once. */
    private int pollHot() {
        int total = 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i >= hotCount) {
                // A handler of the pipeline has closed other channels meanwhile.
                continue;
            }
            Registration registration = hot[i];
            int n = registration.poll(batch);
            if (n > 0) {
                total += n;
                active++;
                registration.emptyPolls = 0;
                if (registration.hotIndex >= 0 && !registration.handle.awaitsCompletions()) {
                    cool(registration);
                }
            } else if (registration.hotIndex >= 0 && !registration.handle.awaitsCompletions()) {
                cool(registration);
            } else if (++registration.emptyPolls >= COLD_AFTER_EMPTY_POLLS && registration.hotIndex >= 0 && !spin.isEndless()
                    && !registration.armAndPoll(batch)) {
                cool(registration);
            }
        }
        counters.polls += total;
        return total;
    }

    private boolean spinUntilWork(IoHandlerContext context, long since) {
        long scheduled = context.delayNanos(since);
        long deadline = since + Math.min(spin.maxNanos(), scheduled);
        int turns = 0;
        for (;;) {
            if (pollHot() > 0) {
                return true;
            }
            Thread.onSpinWait();
            if ((++turns & 31) == 0) {
                if (!context.canBlock()) {
                    return true;
                }
                long now = System.nanoTime();
                if (now - deadline >= 0) {
                    // A task that is due counts as work.
                    return scheduled <= spin.maxNanos();
                }
                if (hotCount == 0) {
                    return false;
                }
                if (now - lastEpollNanos >= EPOLL_INTERVAL_NANOS) {
                    lastEpollNanos = now;
                    runEpoll(nonBlocking.of(context));
                    if (active > 0) {
                        return true;
                    }
                }
            }
        }
    }

    /**
     * Arms every hot queue and polls it once more; a queue that is still empty becomes cold. Returns whether there was work.
     */
    private boolean arm() {
        boolean worked = false;
        for (int i = hotCount - 1; i >= 0; i--) {
            if (i >= hotCount) {
                continue;
            }
            Registration registration = hot[i];
            if (!registration.handle.awaitsCompletions()) {
                cool(registration);
            } else if (registration.armAndPoll(batch)) {
                active++;
                registration.emptyPolls = 0;
                worked = true;
            } else if (registration.hotIndex >= 0) {
                cool(registration);
            }
        }
        return worked;
    }

    private void countConnection(RpmaIoHandle handle, int change) {
        if (handle.hasEvents()) {
            counters.connections += change;
        }
    }

    private void heat(Registration registration) {
        if (registration.hotIndex < 0) {
            if (hotCount == hot.length) {
                hot = java.util.Arrays.copyOf(hot, hotCount << 1);
            }
            registration.hotIndex = hotCount;
            registration.emptyPolls = 0;
            hot[hotCount++] = registration;
            counters.hotQueues = hotCount;
        }
    }

    private void cool(Registration registration) {
        int index = registration.hotIndex;
        if (index >= 0) {
            Registration last = hot[--hotCount];
            hot[index] = last;
            last.hotIndex = index;
            hot[hotCount] = null;
            registration.hotIndex = -1;
            counters.hotQueues = hotCount;
        }
    }

    @Override
    public void prepareToDestroy() {
        closeAll();
        epoll.prepareToDestroy();
    }

    private void closeAll() {
        for (Registration registration : new ArrayList<>(registrations)) {
            try {
                registration.handle.close();
            } catch (Exception e) {
                LOGGER.warn("Failed to close {} while the loop shuts down.", registration.handle, e);
            }
        }
    }

    @Override
    public void destroy() {
        // prepareToDestroy() may never have been called. A close must complete nevertheless, since other threads may wait for
        // it.
        closeAll();
        long deadline = System.nanoTime() + FINISH_NANOS;
        // A channel that is destroyed may leave a lingering close behind, which is destroyed in the next round.
        while (!registrations.isEmpty()) {
            finishAll(deadline);
            for (Registration registration : new ArrayList<>(registrations)) {
                registration.destroy();
            }
        }
        epoll.destroy();
        closeRunQueue();
        RpmaByteBufAllocator.DEFAULT.endMagazines();
        RpmaMetrics.ended(counters);
    }

    /** Lets closed channels finish their delivery. The deadline applies to all of them together. */
    private void finishAll(long deadline) {
        // All are advanced together, because two ends on this loop may wait for each other.
        while (!finishEach() && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
    }

    private boolean finishEach() {
        boolean finished = true;
        for (Registration registration : new ArrayList<>(registrations)) {
            finished &= registration.handle.finish();
        }
        return finished;
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof RpmaIoHandle rpma) {
            Registration registration = new Registration(rpma);
            registrations.add(registration);
            countConnection(rpma, 1);
            rpma.registered();
            return registration;
        }
        return new EpollRegistration(epoll.register(handle), TcpNotice.of(handle));
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return RpmaIoHandle.class.isAssignableFrom(handleType) || epoll.isCompatible(handleType);
    }

    /** The registration of one handle on this loop. */
    private final class Registration implements IoRegistration {
        final RpmaIoHandle handle;
        int hotIndex = -1;
        int emptyPolls;
        private boolean opened;
        private CompletionQueue queue;
        private Watch[] events;
        private Watch completions;
        private volatile boolean valid = true;

        Registration(RpmaIoHandle handle) {
            this.handle = handle;
        }

        int poll(WorkCompletions completions) {
            try {
                return handle.poll(completions);
            } catch (Throwable e) {
                failed(e);
                return 1;
            }
        }

        /** Arms the queue and polls it once more. Returns whether there was work. */
        boolean armAndPoll(WorkCompletions batch) {
            try {
                if (completions == null) {
                    // The descriptor is registered only now, because a connection whose completions arrive immediately, or in a
                    // shared queue, never needs it.
                    completions = new Watch(this, queue.fd(), false);
                }
                queue.consumeEvent();
            } catch (RpmaException | RuntimeException e) {
                failed(e);
                return true;
            }
            return poll(batch) > 0;
        }

        /**
         * Handles an exception of a handle, which must not throw: the connection of the handle is closed, and the loop
         * continues.
         */
        void failed(Throwable e) {
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
            return (T) RpmaIoHandler.this;
        }

        @Override
        public long submit(IoOps ops) {
            if (!valid) {
                return -1;
            }
            switch ((RpmaIoOps) ops) {
                case OPEN -> open();
                case CLOSE -> close();
                case HOT -> {
                    if (queue != null) {
                        heat(this);
                    }
                }
            }
            return 0;
        }

        private void open() {
            if (opened) {
                return;
            }
            opened = true;
            fresh.add(this);
            queue = handle.completionQueue();
            if (queue != null) {
                // The queue is polled now, which finds earlier completions; later ones signal the descriptor.
                heat(this);
            }
        }

        /** Adds the event descriptors to the epoll set, which reports events that have occurred before. */
        void watch() {
            if (!opened || events != null || !handle.hasEvents()) {
                return;
            }
            try {
                int[] fds = handle.eventFds();
                events = new Watch[fds.length];
                for (int i = 0; i < fds.length; i++) {
                    events[i] = new Watch(this, fds[i], true);
                }
            } catch (RuntimeException e) {
                failed(e);
            }
        }

        private void close() {
            cool(this);
            opened = false;
            queue = null;
            if (completions != null) {
                completions.cancel();
                completions = null;
            }
            if (events != null) {
                for (Watch each : events) {
                    if (each != null) {
                        each.cancel();
                    }
                }
                events = null;
            }
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
            if (executor.isExecutorThread(Thread.currentThread())) {
                cancelOnLoop();
            } else {
                try {
                    executor.execute(this::cancelOnLoop);
                } catch (RejectedExecutionException e) {
                    LOGGER.trace("The loop of {} ends, which removes the registration.", handle, e);
                }
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
            if (registrations.remove(this)) {
                countConnection(handle, -1);
                handle.unregistered();
            }
        }
    }

    /** One descriptor in the epoll set, edge-triggered and never changed. */
    private final class Watch implements EpollIoHandle {
        // Not a field of the outer class, which must load without Netty's native library so that it can report that the library
        // is missing.
        private static final EpollIoOps WATCH = EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLET);

        private final Registration registration;
        private final boolean isEvents;
        private final FileDescriptor fd;
        private final IoRegistration watched;

        Watch(Registration registration, int fd, boolean isEvents) {
            this.registration = registration;
            this.isEvents = isEvents;
            this.fd = new FileDescriptor(fd);
            try {
                watched = epoll.register(this);
                watched.submit(WATCH);
            } catch (Exception e) {
                throw new IllegalStateException("descriptor " + fd + " cannot be watched by epoll", e);
            }
        }

        void cancel() {
            watched.cancel();
        }

        @Override
        public FileDescriptor fd() {
            return fd;
        }

        @Override
        public void handle(IoRegistration ignored, IoEvent event) {
            dispatched++;
            if (!registration.valid) {
                return;
            }
            if (!isEvents) {
                if (registration.queue != null) {
                    heat(registration);
                }
                return;
            }
            active++;
            try {
                registration.handle.eventsReady();
            } catch (Throwable e) {
                registration.failed(e);
            }
        }

        @Override
        public void close() {
            // The owner of the descriptor closes it; this registration is cancelled together with that of its handle.
        }
    }

    /** The context of the loop, except that the wait must not block. */
    private static final class NonBlocking implements IoHandlerContext {
        private IoHandlerContext context;

        IoHandlerContext of(IoHandlerContext loop) {
            context = loop;
            return this;
        }

        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return context.deadlineNanos();
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            context.reportActiveIoTime(activeNanos);
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return context.shouldReportActiveIoTime();
        }
    }
}
