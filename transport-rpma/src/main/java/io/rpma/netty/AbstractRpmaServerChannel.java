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

import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.CompletionQueue;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The base class of the server channels of this transport. It implements what does not depend on the kind of child: listening,
 * accepting and the backlog.
 */
abstract class AbstractRpmaServerChannel extends AbstractChannel implements ServerChannel {
    static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaServerChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** A client that has been silent for this long may lose its place in a full backlog: an answer takes one round trip. */
    private static final long SILENT_NANOS = 1_000_000_000L;
    /** How long a client may take to answer, in milliseconds ({@code rpma_conn_cfg_set_timeout(3)}). */
    static final int REQUEST_TIMEOUT_MILLIS = 1_000;
    /**
     * How long other requests wait until the first child is registered: meanwhile it is accepted and passed to the pipeline.
     */
    private static final long FIRST_CHILD_MILLIS = 1_000;

    // In the order in which they were accepted.
    private final Set<PendingAccept> pending = new LinkedHashSet<>();
    // The requests that the application has not decided about, each with its timer; without a timer while the loop shuts down.
    private final Map<RpmaConnectRequest, Optional<Future<?>>> undecided = new LinkedHashMap<>();
    private final ArrayDeque<AbstractRpmaChannel> accepted = new ArrayDeque<>();
    // One for each path, or for each address of a path; empty before the channel is bound.
    private volatile List<Listening> listening = List.of();
    private volatile InetSocketAddress local;
    private volatile boolean open = true;
    /** The reason that is sent to a client if the application did not decide about it. */
    private static final byte[] UNDECIDED = "the server could not decide".getBytes(StandardCharsets.US_ASCII);
    /**
     * The number of requests that are handled at once, so that refused clients, however many there are, do not block the event
     * loop.
     */
    static final int MAX_REQUESTS = 128;

    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final LogLimit refusals = new LogLimit(System::nanoTime,
        task -> eventLoop().schedule(task, LogLimit.WINDOW_NANOS, TimeUnit.NANOSECONDS),
        count -> LOGGER.warn("{} more connections to {} were not accepted within a second.", count, local));

    /** The application's decision about a client. */
    private interface Decision {
        void carryOut(Admission admission) throws RpmaException;
    }

    AbstractRpmaServerChannel() {
        super(null);
    }

    /** Returns the paths to listen on, by the current options. */
    abstract List<RpmaPath> paths();

    /**
     * Prepares the next child according to the limits of the device; the result must be accepted or dropped.
     *
     * @param first whether the channel is being bound
     */
    abstract NextChild newNext(Fabric fabric, boolean first) throws RpmaException;

    /** Returns whether connections can be made better once it is known which loops the children are registered with. */
    boolean wantsChildLoops() {
        return false;
    }

    /** Called when it is known which loops the children are registered with. Any thread. */
    final void childLoopsKnown() {
        if (eventLoop().inEventLoop()) {
            handle().childLoopsKnown();
            return;
        }
        try {
            eventLoop().execute(() -> handle().childLoopsKnown());
        } catch (RejectedExecutionException e) {
            // The loop has ended, and has closed this channel.
            LOGGER.debug("{} accepts no more.", this, e);
        }
    }

    /** Returns the options with the request handler, or {@code null} if all clients are accepted. */
    RequestOptions requests() {
        return null;
    }

    /** Creates the channel of an established connection. */
    abstract AbstractRpmaChannel newChild(QueuePair pair);

    private ServerUnsafe handle() {
        return (ServerUnsafe) unsafe();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new ServerUnsafe();
    }

    /** Returns the warnings that were logged about options without effect on this channel or its children. */
    final Set<String> told() {
        return told;
    }

    /** Returns the limit for log messages about clients that are not accepted. */
    final LogLimit refusals() {
        return refusals;
    }

    /** {@code SO_BACKLOG}. */
    abstract int backlog();

    /**
     * Returns the device that the channel listens on, or {@code null} before it is bound.
     *
     * @throws IllegalArgumentException if there are several
     */
    final Fabric fabric() {
        List<Fabric> fabrics = listening.stream().map(Listening::fabric).distinct().toList();
        if (fabrics.size() > 1) {
            throw new IllegalArgumentException(this + " listens on several devices, " + fabrics
                + ", and a descriptor is good on one of them: set"
                + " RPMA_PRIVATE_DATA_FACTORY to region::descriptor, which is asked for each, or RPMA_PATHS to one path, or ask"
                + " for the descriptor of one of its children");
        }
        return fabrics.isEmpty() ? null : fabrics.getFirst();
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && !listening.isEmpty();
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return null;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        // doRegister() refuses incompatible loops with a more helpful message.
        return true;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        EventLoops.register(this, handle(), promise, registration -> {
            handle().registration = registration;
            if (!listening.isEmpty()) {
                handle().registration.submit(RpmaIoOps.OPEN);
            }
            promise.setSuccess();
        });
    }

    @Override
    protected void doDeregister() {
        IoRegistration registration = handle().registration;
        if (registration != null) {
            handle().registration = null;
            handle().cancelTimers();
            registration.cancel();
        }
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress inet = SocketAddresses.requireBindable(address);
        if (!listening.isEmpty()) {
            throw new AlreadyBoundException();
        }
        List<Listening> bound = new Binding(this).bind(inet);
        local = Binding.localAddress(inet, bound);
        listening = bound;
        handle().registration.submit(RpmaIoOps.OPEN);
    }

    @Override
    protected void doClose() throws Exception {
        if (!open) {
            return;
        }
        open = false;
        IoRegistration registration = handle().registration;
        if (registration != null) {
            registration.submit(RpmaIoOps.CLOSE);
            doDeregister();
        }
        // Iterate over a copy, because each of them removes itself from the set.
        for (PendingAccept unfinished : new ArrayList<>(pending)) {
            unfinished.close();
        }
        for (RpmaConnectRequest request : new ArrayList<>(undecided.keySet())) {
            handle().closed(request);
        }
        for (AbstractRpmaChannel child = accepted.poll(); child != null; child = accepted.poll()) {
            child.unsafe().closeForcibly();
        }
        Listening.closeAll(listening);
    }

    @Override
    protected void doDisconnect() {
        throw new UnsupportedOperationException("a server channel is not connected");
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException("a server channel cannot be written to");
    }

    @Override
    protected Object filterOutboundMessage(Object msg) {
        throw new UnsupportedOperationException("a server channel cannot be written to");
    }

    @Override
    protected void doBeginRead() {
        ServerUnsafe unsafe = handle();
        unsafe.readPending = true;
        if (!accepted.isEmpty()) {
            unsafe.scheduleRead();
        }
    }

    /** Called when auto-read was turned off: clears the read request that auto-read caused. */
    void clearReadPending() {
        EventLoops.clearReadPending(this, () -> handle().readPending = false);
    }

    /** The unsafe of the channel, which is also its handle on the event loop. */
    private final class ServerUnsafe extends AbstractUnsafe implements RpmaIoHandle, PendingAccept.Owner,
            RpmaConnectRequest.Owner {
        private IoRegistration registration;
        private boolean readPending;
        private boolean readScheduled;
        private boolean reading;
        // True while a handler is called; the next request is handled after it returns.
        private boolean asking;
        private final Runnable readTask = this::readScheduled;
        private final AcceptBackoff backoff = new AcceptBackoff();
        // Not null while accepting is paused.
        private Future<?> pause;
        // Not null while the backlog is full of clients that may still answer.
        private Future<?> roomTimer;
        // Not null while the first child is not yet registered with its loop.
        private Future<?> firstTimer;
        private boolean firstIsOver;

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException("a server channel cannot be connected"));
        }

        @Override
        public int[] eventFds() {
            return listening.stream().mapToInt(each -> each.endpoint().fd()).toArray();
        }

        @Override
        public void eventsReady() {
            Throwable failure = acceptAll();
            if (!isOpen()) {
                return;
            }
            if (failure != null) {
                pipeline().fireExceptionCaught(failure);
            }
            if (!accepted.isEmpty() && wantsRead()) {
                read();
            }
        }

        /**
         * Accepts the pending requests on this thread: librpma mixes up the events of connections that are accepted on another
         * one. Requests that do not fit into the backlog wait in the kernel.
         *
         * @return the failure to fire through the pipeline, or {@code null}
         */
        private Throwable acceptAll() {
            for (Listening from : listening) {
                Throwable failure = acceptAll(from);
                if (failure != null) {
                    return failure;
                }
            }
            return null;
        }

        private Throwable acceptAll(Listening from) {
            for (int taken = 0; isOpen() && pause == null && mayAccept(); taken++) {
                if (taken == MAX_REQUESTS) {
                    // The descriptor does not signal the remaining requests again.
                    eventLoop().execute(this::eventsReady);
                    return null;
                }
                ConnectionRequest request;
                try {
                    if (!from.isPrepared()) {
                        from.prepare(newNext(from.fabric(), false));
                    }
                } catch (RpmaException e) {
                    if (AcceptBackoff.isShortage(e)) {
                        return pause(e, AcceptBackoff.PAUSE_MILLIS);
                    }
                    if (refusals.admits()) {
                        LOGGER.warn("A connection to {} could not be accepted.", local, e);
                    }
                    return rejectNext(from, e);
                }
                try {
                    request = from.nextRequest();
                } catch (RpmaException e) {
                    // The request of one client failed, usually because the client is gone. The next request may succeed.
                    LOGGER.debug("A connection request to {} failed.", local, e);
                    long millis = backoff.failed(e);
                    if (!AcceptBackoff.isShortage(e)) {
                        RpmaMetrics.accepts().addFailed();
                    }
                    if (millis > 0) {
                        return pause(e, millis);
                    }
                    continue;
                }
                backoff.succeeded();
                if (request == null) {
                    return null;
                }
                NextChild next = from.take();
                try {
                    next.configured();
                } catch (RpmaException e) {
                    next.release();
                    QueuePair.abandon(null, request, e);
                    return failed(request, e);
                }
                if (!hasRoom()) {
                    giveUpSilentClients();
                }
                try {
                    accept(next, request);
                } catch (RpmaException e) {
                    return failed(request, e);
                }
            }
            return null;
        }

        private boolean hasRoom() {
            return pending.size() + undecided.size() + accepted.size() < Math.max(1, backlog());
        }

        /** Returns whether there is room in the backlog, or can be made by closing a client that does not answer. */
        private boolean mayAccept() {
            if (waitsForFirst()) {
                return false;
            }
            if (hasRoom()) {
                return true;
            }
            if (pending.isEmpty() || undecided.size() + accepted.size() >= Math.max(1, backlog())) {
                // There will be room when the application has read, or decided.
                return false;
            }
            long silent = System.nanoTime() - pending.iterator().next().since();
            if (silent >= SILENT_NANOS) {
                return true;
            }
            if (roomTimer == null && !eventLoop().isShuttingDown()) {
                roomTimer = eventLoop().schedule(() -> {
                    roomTimer = null;
                    eventsReady();
                }, SILENT_NANOS - silent, TimeUnit.NANOSECONDS);
            }
            return false;
        }

        /**
         * Returns whether requests have to wait because the first child is not yet registered with its loop, which determines
         * the loops that the other children are made for. This happens once in the life of this channel, for a limited time.
         */
        private boolean waitsForFirst() {
            if (firstIsOver || pending.isEmpty() && accepted.isEmpty()) {
                return false;
            }
            if (!wantsChildLoops() || eventLoop().isShuttingDown()) {
                firstIsOver = true;
                return false;
            }
            if (firstTimer == null) {
                firstTimer = eventLoop().schedule(this::firstIsOver, FIRST_CHILD_MILLIS, TimeUnit.MILLISECONDS);
            }
            return true;
        }

        private void firstIsOver() {
            firstIsOver = true;
            if (firstTimer != null) {
                firstTimer.cancel(false);
                firstTimer = null;
            }
            if (!reading) {
                // If a read is in progress, it accepts requests when it has finished.
                eventsReady();
            }
        }

        /**
         * Called when the group of the children is known: drops what was prepared for the next child, because it was not made
         * for one of the group's loops.
         */
        private void childLoopsKnown() {
            if (!isOpen()) {
                return;
            }
            for (Listening each : listening) {
                try {
                    each.dropNext();
                } catch (RpmaException e) {
                    LOGGER.warn("The configuration of a connection to {} could not be deleted.", local, e);
                }
            }
            firstIsOver();
        }

        /**
         * Closes the older half of the silent clients of the host that has most of them, so that the clients of one host cannot
         * fill the backlog.
         */
        private void giveUpSilentClients() {
            long now = System.nanoTime();
            Map<InetAddress, List<PendingAccept>> byHost = new HashMap<>();
            List<PendingAccept> most = List.of();
            for (PendingAccept unestablished : pending) {
                if (now - unestablished.since() < SILENT_NANOS) {
                    // The clients that follow are younger.
                    break;
                }
                List<PendingAccept> ofHost = byHost.computeIfAbsent(unestablished.host(), host -> new ArrayList<>());
                ofHost.add(unestablished);
                if (ofHost.size() > most.size()) {
                    most = ofHost;
                }
            }
            for (PendingAccept silent : most.subList(0, (most.size() + 1) / 2)) {
                silent.giveUp();
            }
        }

        /** Handles a request that was taken and could not be accepted. */
        private Throwable failed(ConnectionRequest request, RpmaException e) {
            RpmaMetrics.accepts().addFailed();
            if (AcceptBackoff.isShortage(e)) {
                return pause(e, AcceptBackoff.PAUSE_MILLIS);
            }
            // The next request may succeed, and the descriptor does not signal it again.
            eventLoop().execute(this::eventsReady);
            if (AcceptBackoff.isClientGone(e)) {
                LOGGER.debug("The connection of {} to {} could not be accepted.", request.remoteAddress(), local, e);
                return null;
            }
            if (refusals.admits()) {
                LOGGER.warn("The connection of {} to {} could not be accepted.", request.remoteAddress(), local, e);
            }
            return e;
        }

        /**
         * Stops accepting for a while, because every attempt would fail. The requests wait where they are.
         *
         * @return the failure to fire through the pipeline, or {@code null}
         */
        private Throwable pause(RpmaException why, long millis) {
            if (eventLoop().isShuttingDown()) {
                return why;
            }
            pause = eventLoop().schedule(() -> {
                pause = null;
                eventsReady();
            }, millis, TimeUnit.MILLISECONDS);
            if (millis < AcceptBackoff.PAUSE_MILLIS) {
                return null;
            }
            RpmaMetrics.accepts().addPause();
            if (!backoff.mayReport(System.nanoTime())) {
                return null;
            }
            LOGGER.warn("{} cannot accept connections at present and tries again every {} ms. Clients wait meanwhile. If file"
                + " descriptors are missing, raise their limit (ulimit -n), or LimitNOFILE of the systemd service.",
                AbstractRpmaServerChannel.this, millis, why);
            return why;
        }

        /** Cancels the timers, because the channel leaves the loop on which they are scheduled. */
        private void cancelTimers() {
            if (pause != null) {
                pause.cancel(false);
                pause = null;
            }
            if (roomTimer != null) {
                roomTimer.cancel(false);
                roomTimer = null;
            }
            if (firstTimer != null) {
                firstTimer.cancel(false);
                firstTimer = null;
            }
        }

        /**
         * Rejects the next request, because no further connection can be configured: its client must be notified instead of
         * waiting.
         */
        private Throwable rejectNext(Listening from, RpmaException why) {
            try {
                ConnectionRequest request = from.endpoint().nextConnectionRequest(null);
                if (request != null) {
                    RpmaMetrics.accepts().addFailed();
                    request.close();
                    eventLoop().execute(this::eventsReady);
                }
            } catch (RpmaException e) {
                why.addSuppressed(e);
                pause(e, AcceptBackoff.PAUSE_MILLIS);
            }
            return why;
        }

        private void accept(NextChild next, ConnectionRequest request) throws RpmaException {
            RequestOptions options = requests();
            RpmaRequestHandler handler = options == null ? null : options.handler();
            if (handler != null) {
                Admission admission = next.admit(request);
                if (admission != null) {
                    ask(handler, options.timeoutMillis(), new RpmaConnectRequest(this, admission, request.remoteAddress()));
                }
                return;
            }
            QueuePair accepting = next.accept(request);
            if (accepting != null) {
                await(new PendingAccept(accepting, this));
            }
        }

        private void await(PendingAccept unestablished) {
            pending.add(unestablished);
            unestablished.watch(eventLoop());
        }

        // ---- the application decides ----

        /** Asks the application for a decision, now or later; the request counts against the backlog until then. */
        private void ask(RpmaRequestHandler handler, int timeoutMillis, RpmaConnectRequest request) {
            Future<?> timer = null;
            if (!eventLoop().isShuttingDown()) {
                // While the loop shuts down no timer can be scheduled; destroy() ends the wait instead.
                timer = eventLoop().schedule(() -> overdue(request, timeoutMillis), timeoutMillis, TimeUnit.MILLISECONDS);
            }
            undecided.put(request, Optional.ofNullable(timer));
            asking = true;
            try {
                handler.requested(request);
            } catch (Throwable t) {
                if (request.decide("refused, because its handler failed")) {
                    refuse(request, UNDECIDED);
                }
                pipeline().fireExceptionCaught(t);
            } finally {
                asking = false;
            }
        }

        private void overdue(RpmaConnectRequest request, int timeoutMillis) {
            if (!eventLoop().inEventLoop()) {
                // The channel has been registered with another loop since this was scheduled.
                eventLoop().execute(() -> overdue(request, timeoutMillis));
                return;
            }
            if (request.decide("refused, because it was not decided within " + timeoutMillis + " ms")) {
                if (refusals.admits()) {
                    LOGGER.warn("The connection of {} to {} is refused, because the RPMA_REQUEST_HANDLER did not decide within"
                        + " {} ms (RPMA_REQUEST_TIMEOUT_MILLIS).", request.remoteAddress(), local, timeoutMillis);
                }
                refuse(request, UNDECIDED);
            }
        }

        /** Rejects a request because the channel is being closed, so that the client is notified. */
        private void closed(RpmaConnectRequest request) {
            request.decide("rejected, because the server channel was closed");
            carryOut(request, admission -> admission.reject(), null);
        }

        @Override
        public Channel serverChannel() {
            return AbstractRpmaServerChannel.this;
        }

        @Override
        public Promise<Channel> newPromise() {
            Promise<Channel> promise = eventLoop().newPromise();
            promise.setUncancellable();
            return promise;
        }

        @Override
        public void accept(RpmaConnectRequest request, ByteBuffer privateData, Promise<Channel> promise) {
            carryOut(request, admission -> await(new PendingAccept(admission.accept(privateData), this, promise)), promise);
        }

        @Override
        public void refuse(RpmaConnectRequest request, byte[] reason) {
            carryOut(request, admission -> {
                RpmaMetrics.accepts().addRefused();
                if (reason == null) {
                    admission.reject();
                } else {
                    admission.refuse(reason);
                }
            }, null);
        }

        /** Carries out a decision on the event loop, unless the channel has been closed. */
        private void carryOut(RpmaConnectRequest request, Decision decision, Promise<Channel> promise) {
            EventLoop loop = eventLoop();
            if (!loop.inEventLoop()) {
                try {
                    loop.execute(() -> carryOut(request, decision, promise));
                } catch (RejectedExecutionException e) {
                    // The loop has ended, and has closed the channel.
                    tell(promise, e);
                }
                return;
            }
            Optional<Future<?>> timer = undecided.remove(request);
            if (timer == null) {
                tell(promise, new ClosedChannelException());
                return;
            }
            timer.ifPresent(future -> future.cancel(false));
            try {
                decision.carryOut(request.admission());
            } catch (RpmaException | RuntimeException e) {
                RpmaMetrics.accepts().addFailed();
                LOGGER.debug("What was decided about {} could not be carried out.", request, e);
                tell(promise, e);
                if (isOpen() && e instanceof RpmaException failure && AcceptBackoff.isShortage(failure) && pause == null) {
                    Throwable shortage = pause(failure, AcceptBackoff.PAUSE_MILLIS);
                    if (shortage != null) {
                        pipeline().fireExceptionCaught(shortage);
                    }
                }
            }
            if (!asking && isOpen() && hasRoom()) {
                // There is room in the backlog, and the descriptor does not signal requests again that arrived meanwhile.
                eventLoop().execute(this::eventsReady);
            }
        }

        private void tell(Promise<Channel> promise, Throwable failure) {
            if (promise != null) {
                promise.tryFailure(failure);
            }
        }

        @Override
        public void established(PendingAccept accepting, QueuePair pair) {
            pending.remove(accepting);
            RpmaMetrics.accepts().addEstablished();
            AbstractRpmaChannel child = newChild(pair);
            if (accepting.promise() != null) {
                // Complete the promise before the pipeline of the child is created, so that listeners can set attributes of the
                // child.
                accepting.promise().trySuccess(child);
                if (!isOpen()) {
                    // A listener has closed this channel, so the child would never be read.
                    child.unsafe().closeForcibly();
                    return;
                }
            }
            accepted.add(child);
            if (wantsRead()) {
                scheduleRead();
            }
        }

        @Override
        public void failed(PendingAccept accepting, String why) {
            pending.remove(accepting);
            LOGGER.debug("A connection to {} was not established: {}.", local, why);
            tell(accepting.promise(), new IOException("the connection was not established: " + why));
            if (isOpen()) {
                RpmaMetrics.accepts().addUnanswered();
                // There is room in the backlog again, and the descriptor does not signal requests again that arrived meanwhile.
                eventLoop().execute(this::eventsReady);
            }
        }

        private boolean wantsRead() {
            return readPending || config().isAutoRead();
        }

        private void scheduleRead() {
            if (!readScheduled && !reading) {
                readScheduled = true;
                eventLoop().execute(readTask);
            }
        }

        private void readScheduled() {
            readScheduled = false;
            if (isOpen() && wantsRead() && !accepted.isEmpty()) {
                read();
            }
        }

        private void read() {
            if (reading) {
                return;
            }
            ChannelConfig channelConfig = config();
            ChannelPipeline pipeline = pipeline();
            RecvByteBufAllocator.ExtendedHandle handle = (RecvByteBufAllocator.ExtendedHandle) recvBufAllocHandle();
            handle.reset(channelConfig);
            handle.attemptedBytesRead(1);
            reading = true;
            try {
                do {
                    AbstractRpmaChannel child = accepted.poll();
                    if (child == null) {
                        handle.lastBytesRead(0);
                        break;
                    }
                    handle.lastBytesRead(1);
                    handle.incMessagesRead(1);
                    readPending = false;
                    pipeline.fireChannelRead(child);
                    // The child is registered by now, or it is unknown when it will be.
                    firstIsOver = true;
                } while (handle.continueReading());
                handle.readComplete();
                pipeline.fireChannelReadComplete();
            } finally {
                reading = false;
            }
            // There is room in the backlog again, and the descriptor does not signal requests again that arrived meanwhile.
            Throwable failure = acceptAll();
            if (failure != null) {
                pipeline.fireExceptionCaught(failure);
            }
            if (isOpen() && wantsRead() && !accepted.isEmpty()) {
                scheduleRead();
            }
        }

        @Override
        public CompletionQueue completionQueue() {
            return null;
        }

        @Override
        public int poll(WorkCompletions batch) {
            return 0;
        }

        @Override
        public void close() {
            close(voidPromise());
        }

        @Override
        public void destroy() {
            closeForcibly();
        }

        @Override
        public String toString() {
            return AbstractRpmaServerChannel.this.toString();
        }
    }
}
