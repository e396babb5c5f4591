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
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.Rpma;
import io.rpma.RpmaUnavailableException;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.loop.EpollRegistration;
import io.rpma.netty.loop.EpollSet;
import io.rpma.netty.loop.HotQueues;
import io.rpma.netty.loop.LoopCounts;
import io.rpma.netty.loop.LoopTurn;
import io.rpma.netty.loop.NativeAccess;
import io.rpma.netty.loop.PostedTasks;
import io.rpma.netty.loop.ReceiveModeration;
import io.rpma.netty.loop.Registrations;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaRegistration;
import io.rpma.netty.loop.RunQueue;
import io.rpma.netty.loop.SpinPolicy;
import io.rpma.netty.loop.TcpNotice;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.receive.LoopCompletions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

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

    /** While an idle loop polls, it offers its processor to other threads at this interval. */
    private static final long YIELD_INTERVAL_NANOS = 10_000;

    /** While an idle loop polls, it reads the clock after this many polls, to report how long it has handled completions. */
    private static final int CLOCK_POLLS = 8;

    private static final InliningBarrier RUN_IDLE = new InliningBarrier(MethodHandles.lookup(), RpmaIoHandler.class, "runIdle",
        MethodType.methodType(void.class, IoHandlerContext.class));

    private final ThreadAwareExecutor executor;
    private final IoHandler epoll;
    private final EpollSet set;
    private final PostedTasks posted;
    private final SpinPolicy spin;
    private RunQueue runQueue;
    private boolean hasMemory;
    private final LoopTurn turn = new LoopTurn();
    private final LoopCounts counters = new LoopCounts();
    private final RpmaLoopCounters published = new RpmaLoopCounters(counters);
    private final ReceiveModeration moderation = new ReceiveModeration(System.nanoTime());
    private final HotQueues hot;
    private final Registrations registrations;
    // A single object, because a loop that is suspended and resumes registers the hook again.
    private final Runnable shutdownHook = this::prepareToDestroy;

    private RpmaIoHandler(ThreadAwareExecutor executor, IoHandler epoll, RpmaPolling polling) {
        this.executor = executor;
        this.epoll = epoll;
        posted = new PostedTasks(executor);
        set = new EpollSet(epoll, turn, posted);
        registrations = new Registrations(executor, counters);
        spin = spin(polling);
        hot = new HotQueues(spin.isEndless(), counters, turn, moderation);
    }

    /**
     * Returns the factory of handlers, for a {@code MultiThreadIoEventLoopGroup} or any other user of a factory. The loops use
     * the polling mode of {@code -Dio.rpma.netty.polling}.
     *
     * @throws IllegalArgumentException if a system property that determines the polling has a value that is not allowed
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
     * @throws IllegalArgumentException if {@code -Dio.rpma.netty.spinNanos} is needed and has a value that is not allowed
     * @throws RpmaUnavailableException if the JVM refuses native access; the message names the flag
     * @throws UnsatisfiedLinkError if Netty's native epoll library is not available
     */
    public static IoHandlerFactory newFactory(RpmaPolling polling) {
        Objects.requireNonNull(polling, "polling");
        // A wrong system property is reported here. The group would wrap the exception if a handler threw it.
        spin(polling);
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

    /** Returns how an idle loop with a polling mode decides whether to poll. */
    static SpinPolicy spin(RpmaPolling polling) {
        return switch (polling) {
            case SPIN -> SpinPolicy.endless();
            case BLOCK -> SpinPolicy.never();
            case ADAPTIVE -> SpinPolicy.adaptive();
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
            LOGGER.debug("There is no usable provider. Binding or connecting a channel will fail for this reason.", e);
        }
    }

    @Override
    public void initialize() {
        epoll.initialize();
        posted.begin();
        closeRunQueue();
        runQueue = RunQueue.ofThisThread();
        beginMemory();
        counters.name = Thread.currentThread().getName();
        RpmaMetrics.began(published);
        if (executor instanceof SingleThreadEventExecutor loop) {
            // Netty calls prepareToDestroy() before the tasks of a turn, and only if the loop is shutting down by then. Without
            // a quiet period, a turn during which the shutdown begins is the last one, and the loop's channels would never be
            // closed.
            loop.addShutdownHook(shutdownHook);
        }
    }

    /**
     * Prepares the registered memory for this thread. If a property of it has a value that is not allowed, every bind and every
     * connect fails for this reason. The loop runs nevertheless: if its thread ended, their promises would get no result.
     */
    private void beginMemory() {
        try {
            // The buffers that this loop receives return the public allocator, whatever allocator its channels have.
            RegisteredMemory.allocator(RpmaByteBufAllocator.DEFAULT);
            RegisteredMemory.beginMagazines();
            hasMemory = true;
        } catch (ExceptionInInitializerError | NoClassDefFoundError e) {
            LOGGER.debug("There is no registered memory. Binding or connecting a channel will fail for this reason.", e);
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
        int handled = poll(context);
        if (handled > 0 || !context.canBlock()) {
            long now = System.nanoTime();
            if (hot.isEmpty() || now - set.lastRunNanos >= EPOLL_INTERVAL_NANOS) {
                set.lastRunNanos = now;
                set.runNow(context);
            }
        } else {
            runIdleBehindBarrier(context);
        }
        return turn.active;
    }

    /** Polls every hot queue once, and reports the time that this took if there were completions, which have been handled. */
    private int poll(IoHandlerContext context) {
        if (!context.shouldReportActiveIoTime()) {
            return hot.poll();
        }
        long started = System.nanoTime();
        int handled = hot.poll();
        if (handled > 0) {
            context.reportActiveIoTime(System.nanoTime() - started);
        }
        return handled;
    }

    /** Arms every hot queue; returns the result of {@link HotQueues#arm}. Reports the time that this took if there was work. */
    private boolean arm(IoHandlerContext context) {
        if (!context.shouldReportActiveIoTime()) {
            return hot.arm();
        }
        long started = System.nanoTime();
        boolean worked = hot.arm();
        if (worked) {
            context.reportActiveIoTime(System.nanoTime() - started);
        }
        return worked;
    }

    private void runIdleBehindBarrier(IoHandlerContext context) {
        try {
            RUN_IDLE.method().invokeExact(this, context);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Waits until there is work: polls if that is likely to succeed soon, and otherwise blocks. */
    private void runIdle(IoHandlerContext context) {
        long idleSince = System.nanoTime();
        boolean polled = !hot.isEmpty() && spin.pays()
            && (spin.isEndless() || !spin.isContended(idleSince) && !runQueue.isCrowded(idleSince));
        if (polled) {
            counters.spins++;
            if (pauseUntilWork(context, idleSince) || spinUntilWork(context, idleSince)) {
                spin.paid();
                counters.spinsPaid++;
                return;
            }
            spin.failed();
        }
        if (arm(context) || !context.canBlock()) {
            return;
        }
        counters.blocks++;
        boolean isBrief = !hot.isEmpty();
        if (isBrief) {
            set.runBriefly(context);
        } else {
            set.run(context);
        }
        set.lastRunNanos = System.nanoTime();
        if (!hot.isEmpty()) {
            // A completion ended the wait. Record whether polling would have seen it.
            if (!polled && !isBrief) {
                spin.blocked(set.lastRunNanos - idleSince);
            }
            poll(context);
        }
    }

    /**
     * Pauses once if a lot of data is being received, and then polls. Tasks of other threads wait until the pause has ended.
     *
     * @return whether there was work
     */
    private boolean pauseUntilWork(IoHandlerContext context, long since) {
        if (!moderation.isPauseDue(since) || spin.isEndless() || context.delayNanos(since) < spin.maxNanos()) {
            return false;
        }
        counters.pauses++;
        LockSupport.parkNanos(ReceiveModeration.PAUSE_NANOS);
        return poll(context) > 0 || !context.canBlock();
    }

    private boolean spinUntilWork(IoHandlerContext context, long since) {
        long scheduled = context.delayNanos(since);
        long deadline = since + Math.min(spin.maxNanos(), scheduled);
        long yieldAt = since + YIELD_INTERVAL_NANOS;
        boolean reports = context.shouldReportActiveIoTime();
        long started = since;
        int turns = 0;
        for (;;) {
            if (reports && (turns & CLOCK_POLLS - 1) == 0) {
                started = System.nanoTime();
            }
            if (hot.poll() > 0) {
                if (reports) {
                    // This includes at most CLOCK_POLLS - 1 polls that found nothing.
                    context.reportActiveIoTime(System.nanoTime() - started);
                }
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
                if (now - set.lastRunNanos >= EPOLL_INTERVAL_NANOS) {
                    set.lastRunNanos = now;
                    set.runNow(context);
                    if (turn.active > 0) {
                        return true;
                    }
                }
                if (now - yieldAt >= 0 && !spin.isContended(now)) {
                    // Other threads may have work: the compilers of the JVM, other loops of this process, the peer. They get the
                    // processor now, and not when this loop has used up its time slice or gives up. If no thread waits for the
                    // processor, this is one short system call.
                    Thread.yield();
                    counters.yields++;
                    long returned = System.nanoTime();
                    spin.yielded(returned, returned - now);
                    yieldAt = returned + YIELD_INTERVAL_NANOS;
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
        posted.end();
        // prepareToDestroy() may never have been called. A close must complete nevertheless, since other threads may wait for
        // it.
        registrations.closeAll();
        registrations.destroyAll();
        epoll.destroy();
        closeRunQueue();
        if (hasMemory) {
            RegisteredMemory.endMagazines();
        }
        RpmaMetrics.ended(published);
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof RpmaIoHandle rpma) {
            RpmaRegistration registration = new RpmaRegistration(rpma, set, hot, registrations);
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
}
