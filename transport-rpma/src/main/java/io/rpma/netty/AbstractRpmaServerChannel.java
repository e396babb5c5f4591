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

/** What every server channel of this transport has, whatever its children speak: listening, accepting, a backlog. */
abstract class AbstractRpmaServerChannel extends AbstractChannel implements ServerChannel {
    static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(RpmaServerChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** A client that has been silent for so long may lose its place in a full backlog: an answer takes one round trip. */
    private static final long SILENT_NANOS = 1_000_000_000L;
    /** How long a client has to answer, in milliseconds ({@code rpma_conn_cfg_set_timeout(3)}). */
    static final int REQUEST_TIMEOUT_MILLIS = 1_000;
    /** How long the others wait for the first child to be registered: it is answered and handed on meanwhile. */
    private static final long FIRST_CHILD_MILLIS = 1_000;

    // In the order in which they were accepted.
    private final Set<PendingAccept> pending = new LinkedHashSet<>();
    // What the application has not decided about, with the timer of each; no timer while the loop shuts down.
    private final Map<RpmaConnectRequest, Optional<Future<?>>> undecided = new LinkedHashMap<>();
    private final ArrayDeque<AbstractRpmaChannel> accepted = new ArrayDeque<>();
    // One for each path, or for each address of a path; none before the channel is bound.
    private volatile List<Listening> listening = List.of();
    private volatile InetSocketAddress local;
    private volatile boolean open = true;
    /** What a client is told that the application did not decide about. */
    private static final byte[] UNDECIDED = "the server could not decide".getBytes(StandardCharsets.US_ASCII);
    /** Requests that are taken at once: clients that are refused, however many come, do not keep the event loop. */
    static final int MAX_REQUESTS = 128;

    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final LogLimit refusals = new LogLimit(System::nanoTime,
        task -> eventLoop().schedule(task, LogLimit.WINDOW_NANOS, TimeUnit.NANOSECONDS),
        count -> LOGGER.warn("{} more connections to {} were not accepted within a second.", count, local));

    /** What the application decided about a client. */
    private interface Decision {
        void carryOut(Admission admission) throws RpmaException;
    }

    AbstractRpmaServerChannel() {
        super(null);
    }

    /** The paths to listen on, by the options as they are now. */
    abstract List<RpmaPath> paths();

    /**
     * Prepares what the next child is made with, by what the device can do; to be used up.
     *
     * @param first whether the channel is being bound
     */
    abstract NextChild newNext(Fabric fabric, boolean first) throws RpmaException;

    /** Whether connections can be made better once it is known which loops the children are registered with. */
    boolean wantsChildLoops() {
        return false;
    }

    /** It is known now which loops the children are registered with. Any thread. */
    final void childLoopsKnown() {
        if (eventLoop().inEventLoop()) {
            handle().childLoopsKnown();
            return;
        }
        try {
            eventLoop().execute(() -> handle().childLoopsKnown());
        } catch (RejectedExecutionException e) {
            // The loop has ended, and this channel with it.
            LOGGER.debug("{} accepts no more.", this, e);
        }
    }

    /** Who decides about clients; {@code null} if all are accepted. */
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

    /** What has been told of options that have no effect on this channel or its children. */
    final Set<String> told() {
        return told;
    }

    /** Returns how often it may be logged that a client is not accepted. */
    final LogLimit refusals() {
        return refusals;
    }

    /** {@code SO_BACKLOG}. */
    abstract int backlog();

    /**
     * The device that it listens on, or {@code null} before the channel is bound.
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
        // Refused by doRegister(), in words that help.
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
        // A copy: each of them leaves the set.
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

    /** Auto-read was turned off: what the pipeline asked for because of it is asked for no more. */
    void clearReadPending() {
        EventLoops.clearReadPending(this, () -> handle().readPending = false);
    }

    /** The channel as its event loop sees it. */
    private final class ServerUnsafe extends AbstractUnsafe implements RpmaIoHandle, PendingAccept.Owner,
            RpmaConnectRequest.Owner {
        private IoRegistration registration;
        private boolean readPending;
        private boolean readScheduled;
        private boolean reading;
        // While a handler decides, the next request is taken when it returns.
        private boolean asking;
        private final Runnable readTask = this::readScheduled;
        private final AcceptBackoff backoff = new AcceptBackoff();
        // Not null while nothing is accepted.
        private Future<?> pause;
        // Not null while the backlog is full of clients that may yet answer.
        private Future<?> roomTimer;
        // While the first child is on its way to its loop.
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
         * Accepts what has come, on this thread: librpma mixes up the events of connections that are accepted on another. What
         * does not fit into the backlog waits in the kernel.
         *
         * @return what the pipeline has to be told, or {@code null}
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
                    // The descriptor will not tell again of those that are left.
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
                    // One client's request failed, mostly because the client is gone. The next one is not to blame.
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

        /** Whether there is room in the backlog, or can be made by giving up a client that does not answer. */
        private boolean mayAccept() {
            if (waitsForFirst()) {
                return false;
            }
            if (hasRoom()) {
                return true;
            }
            if (pending.isEmpty() || undecided.size() + accepted.size() >= Math.max(1, backlog())) {
                // There is room when the application has read, or decided.
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
         * Whether the first child is on its way to its loop, which tells for which loops the others are made. For that they wait
         * a moment, once in the life of this channel.
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
                // Otherwise the accepting goes on after the reading.
                eventsReady();
            }
        }

        /** What was prepared for the next child is not made for one of the loops. */
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
         * Gives up the older half of the silent clients of the host that has the most of them: the clients of one host must not
         * fill the backlog.
         */
        private void giveUpSilentClients() {
            long now = System.nanoTime();
            Map<InetAddress, List<PendingAccept>> byHost = new HashMap<>();
            List<PendingAccept> most = List.of();
            for (PendingAccept unestablished : pending) {
                if (now - unestablished.since() < SILENT_NANOS) {
                    // Nor those that follow, which are younger.
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

        /** A request was taken and could not be accepted. */
        private Throwable failed(ConnectionRequest request, RpmaException e) {
            RpmaMetrics.accepts().addFailed();
            if (AcceptBackoff.isShortage(e)) {
                return pause(e, AcceptBackoff.PAUSE_MILLIS);
            }
            // The next one is not to blame, and the descriptor will not tell again that it has come.
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
         * Accepts nothing for a while, because every attempt would fail. The requests wait where they are.
         *
         * @return what the pipeline has to be told, or {@code null}
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

        /** The channel leaves this loop: what it has scheduled there must not come back to it. */
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

        /** There are no means for another connection: its client must hear so, instead of waiting. */
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

        /** Has the application decide, at once or later; it counts against the backlog until then. */
        private void ask(RpmaRequestHandler handler, int timeoutMillis, RpmaConnectRequest request) {
            Future<?> timer = null;
            if (!eventLoop().isShuttingDown()) {
                // Otherwise destroy() is the bound.
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
                // The channel has moved to another loop since this was scheduled.
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

        /** The channel is being closed: the client hears so. */
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

        /** Carries out what was decided, on the loop, unless the channel has been closed. */
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
                // There is room in the backlog, and the descriptor will not tell again what has come meanwhile.
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
                // Before the pipeline of the child is made, so that listeners can say what is known of the client.
                accepting.promise().trySuccess(child);
                if (!isOpen()) {
                    // A listener has closed this channel, and nobody would ever read the child.
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
                // There is room in the backlog again, and the descriptor will not tell again what has come meanwhile.
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
                    // Registered by now, or nobody knows when it will be.
                    firstIsOver = true;
                } while (handle.continueReading());
                handle.readComplete();
                pipeline.fireChannelReadComplete();
            } finally {
                reading = false;
            }
            // There is room in the backlog again, and the descriptor will not tell again what has come meanwhile.
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
