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

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.Rpma;
import io.rpma.RpmaUnavailableException;
import io.rpma.netty.memory.RegisteredMemory;
import java.util.ArrayList;
import java.util.Objects;

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
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaIoHandler.class);

    /** While queues are hot, epoll is run at this interval. */
    private static final long EPOLL_INTERVAL_NANOS = 20_000;
    /** If epoll has not run for this long, connections may have ended without the loop having noticed. */
    private static final long BEHIND_NANOS = 1_000_000;

    private final ThreadAwareExecutor executor;
    private final IoHandler epoll;
    private final SpinPolicy spin;
    private RunQueue runQueue;
    private final LoopTurn turn = new LoopTurn();
    private final RpmaLoopCounters counters = new RpmaLoopCounters();
    private final HotQueues hot;
    private final Registrations registrations = new Registrations(counters);
    private final NonBlockingContext nonBlocking = new NonBlockingContext();
    // Registrations that were opened since epoll last ran. One that is closed before epoll runs again is never added to the
    // epoll set.
    private final ArrayList<RpmaRegistration> fresh = new ArrayList<>();
    // A single object, because a loop that is suspended and resumes registers the hook again.
    private final Runnable shutdownHook = this::prepareToDestroy;
    // Used by the thread of the loop; set by a test as well, on this thread, to make the loop look as if it had just run epoll.
    long lastEpollNanos;

    private RpmaIoHandler(ThreadAwareExecutor executor, IoHandler epoll, RpmaPolling polling) {
        this.executor = executor;
        this.epoll = epoll;
        spin = new SpinPolicy(polling);
        hot = new HotQueues(spin.isEndless(), counters, turn);
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
        RegisteredMemory.beginMagazines();
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
        turn.active = 0;
        counters.turns++;
        long started = context.shouldReportActiveIoTime() ? System.nanoTime() : 0;
        int handled = hot.poll();
        if (started != 0 && handled > 0) {
            context.reportActiveIoTime(System.nanoTime() - started);
        }
        if (handled > 0 || !context.canBlock()) {
            long now = System.nanoTime();
            if (hot.isEmpty() || now - lastEpollNanos >= EPOLL_INTERVAL_NANOS) {
                lastEpollNanos = now;
                runEpoll(nonBlocking.of(context));
            }
            return turn.active;
        }
        long idleSince = System.nanoTime();
        boolean polled = !hot.isEmpty() && spin.pays() && (spin.isEndless() || !runQueue.isCrowded(idleSince));
        if (polled) {
            counters.spins++;
            if (spinUntilWork(context, idleSince)) {
                spin.paid();
                counters.spinsPaid++;
                return turn.active;
            }
            spin.failed();
        }
        if (hot.arm() || !context.canBlock()) {
            return turn.active;
        }
        counters.blocks++;
        runEpoll(context);
        lastEpollNanos = System.nanoTime();
        if (!hot.isEmpty()) {
            // A completion ended the wait. Record whether polling would have seen it.
            if (!polled) {
                spin.blocked(lastEpollNanos - idleSince);
            }
            hot.poll();
        }
        return turn.active;
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
        if (nonBlocking.isSet() && isBehind()) {
            lastEpollNanos = System.nanoTime();
            runEpoll(nonBlocking);
        }
    }

    private void runEpoll(IoHandlerContext context) {
        for (int i = 0; i < fresh.size(); i++) {
            fresh.get(i).watch();
        }
        fresh.clear();
        // The handles of this handler are counted in DescriptorWatch.handle(); the others belong to epoll's own channels.
        turn.dispatched = 0;
        int ready = epoll.run(context);
        turn.active += ready - turn.dispatched;
    }

    private boolean spinUntilWork(IoHandlerContext context, long since) {
        long scheduled = context.delayNanos(since);
        long deadline = since + Math.min(spin.maxNanos(), scheduled);
        int turns = 0;
        for (;;) {
            if (hot.poll() > 0) {
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
                if (hot.isEmpty()) {
                    return false;
                }
                if (now - lastEpollNanos >= EPOLL_INTERVAL_NANOS) {
                    lastEpollNanos = now;
                    runEpoll(nonBlocking.of(context));
                    if (turn.active > 0) {
                        return true;
                    }
                }
            }
        }
    }

    @Override
    public void prepareToDestroy() {
        registrations.closeAll();
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        // prepareToDestroy() may never have been called. A close must complete nevertheless, since other threads may wait for
        // it.
        registrations.closeAll();
        registrations.destroyAll();
        epoll.destroy();
        closeRunQueue();
        RegisteredMemory.endMagazines();
        RpmaMetrics.ended(counters);
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof RpmaIoHandle rpma) {
            RpmaRegistration registration = new RpmaRegistration(rpma, this, hot);
            registrations.add(registration);
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

    // ---- for registrations ----

    /** Returns the thread of the loop. */
    ThreadAwareExecutor executor() {
        return executor;
    }

    /** Called when a registration was opened: its event descriptors are added to the epoll set when epoll has its turn. */
    void opened(RpmaRegistration registration) {
        fresh.add(registration);
    }

    /** Called when a registration was cancelled. */
    void removed(RpmaRegistration registration) {
        registrations.remove(registration);
    }

    /** Adds a descriptor of a registration to the epoll set. */
    DescriptorWatch newWatch(RpmaRegistration registration, int fd, boolean isEvents) {
        return new DescriptorWatch(epoll, turn, registration, fd, isEvents);
    }
}
