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
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.rpma.CompletionQueue;
import io.rpma.PeerConfig;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** What every connection of this transport has, whatever travels over it: registration, connecting, closing, addresses. */
abstract class AbstractRpmaChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    volatile boolean open = true;
    volatile boolean active;
    private volatile RpmaPath path;
    // Null before it connects, and in a child of a server channel, whose client has chosen.
    private volatile PathChoice choice;
    private volatile InetSocketAddress local;
    private volatile InetSocketAddress remote;

    AbstractRpmaChannel(Channel parent) {
        super(parent);
    }

    /** The child of a server channel begins with a connection that is established. */
    final void adopted(QueuePair pair) {
        local = pair.localAddress();
        remote = pair.remoteAddress();
        path = RpmaPath.of(pair.fabric.provider());
        active = true;
        pair.listener(handle());
    }

    /** Returns the path that the connection has taken, or {@code null} before it is established. Stays when it is closed. */
    public final RpmaPath path() {
        return path;
    }

    /**
     * Returns why each better path was not taken: those in front of {@link #path()} among the
     * {@link RpmaChannelOption#RPMA_PATHS} that the channel had when it connected, best first, with a reason in words. If the
     * connection failed, those are all that were asked or could not be. Empty before, if the best path was taken, and for
     * channels of a server, whose clients have chosen. Stays when the channel is closed.
     */
    public final Map<RpmaPath, String> pathsNotTaken() {
        PathChoice made = choice;
        return made == null ? Map.of() : made.notTaken(path);
    }

    private ConnectionUnsafe handle() {
        return (ConnectionUnsafe) unsafe();
    }

    /** The connection, or {@code null} before there is one. */
    abstract QueuePair pair();

    /** The paths that a connection may take, by the options as they are now. */
    abstract List<RpmaPath> paths();

    /** How to connect, by the options as they are now. */
    abstract Dialer dialer();

    /** Takes the connection that is being made. */
    abstract void dialled(QueuePair connecting);

    /** Ends an established connection that nobody watches any more; on the loop. */
    abstract void end(QueuePair closing, EventLoop loop);

    /** Forgets that somebody asked to read. */
    abstract void readNoMore();

    /**
     * Takes note of what the peer says of its platform ({@code rpma_conn_apply_remote_peer_cfg(3)}), so that
     * {@link io.rpma.FlushType#PERSISTENT} becomes possible where it is.
     *
     * @param descriptor what {@link RpmaPeerConfig#descriptor} wrote there; not trusted, its position does not move
     * @return succeeds when the operations that are written from then on follow it
     */
    public ChannelFuture applyPeerConfig(ByteBuffer descriptor) {
        ChannelPromise promise = newPromise();
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            applyPeerConfig(descriptor, promise);
        } else {
            loop.execute(() -> applyPeerConfig(descriptor, promise));
        }
        return promise;
    }

    private void applyPeerConfig(ByteBuffer descriptor, ChannelPromise promise) {
        QueuePair current = pair();
        if (!active || current == null || current.isClosed()) {
            promise.setFailure(open ? new NotYetConnectedException() : new ClosedChannelException());
            return;
        }
        try (PeerConfig config = current.fabric.provider().peerConfigFromDescriptor(descriptor)) {
            current.connection.applyRemotePeerConfig(config);
        } catch (RpmaException | RuntimeException e) {
            promise.setFailure(e);
            return;
        }
        promise.setSuccess();
    }

    /** Returns what Netty says of a channel, and the path that the connection has taken. */
    @Override
    public String toString() {
        String channel = super.toString();
        RpmaPath taken = path;
        return taken == null ? channel : channel.substring(0, channel.length() - 1) + " by " + taken + ']';
    }

    /** Auto-read was turned off: what the pipeline asked for because of it is asked for no more. */
    final void clearReadPending() {
        EventLoops.clearReadPending(this, this::readNoMore);
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
        return active;
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        // Refused by doRegister(), in words that help.
        return true;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        EventLoops.register(this, handle(), promise, registration -> {
            handle().begin(registration);
            promise.setSuccess();
            if (pair() != null) {
                handle().catchUpWithThePast();
            }
        });
    }

    @Override
    protected void doDeregister() {
        IoRegistration registration = handle().registration;
        if (registration != null) {
            handle().registration = null;
            handle().readTask = null;
            if (open && pair() != null) {
                pair().leave();
            }
            registration.cancel();
        }
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        requireNoLocalPort(address);
    }

    /** An RDMA connection's own address follows from its route, and its port cannot be chosen. */
    private static void requireNoLocalPort(SocketAddress address) {
        InetSocketAddress inet = SocketAddresses.requireBindable(address);
        if (inet.getPort() != 0) {
            throw new ChannelException("the local port " + inet.getPort() + " cannot be chosen: the address and the port of"
                + " an outgoing RDMA connection follow from its route; bind to port 0, or do not bind");
        }
    }

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected void doClose() throws Exception {
        if (!open) {
            return;
        }
        open = false;
        active = false;
        ConnectionUnsafe unsafe = handle();
        if (unsafe.connectPromise != null) {
            unsafe.failConnect(new ClosedChannelException());
        }
        IoRegistration registration = unsafe.registration;
        QueuePair closing = pair();
        if (registration == null && !(unsafe.wasRegistered && eventLoop().inEventLoop())) {
            // Nobody watches the descriptors, and no loop is there to wait for anything.
            if (closing != null) {
                closing.close();
            }
            return;
        }
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            closePair(registration, closing, loop);
        } else {
            loop.execute(() -> closePair(registration, closing, loop));
        }
    }

    private void closePair(IoRegistration registration, QueuePair closing, EventLoop loop) {
        if (registration != null) {
            registration.submit(RpmaIoOps.CLOSE);
            doDeregister();
        }
        if (closing == null) {
            return;
        }
        if (closing.isEstablished()) {
            end(closing, loop);
        } else {
            // Nothing was promised yet.
            Connector.abandon(closing);
        }
    }

    /** The channel as its event loop sees it. */
    abstract class ConnectionUnsafe extends AbstractUnsafe implements RpmaIoHandle, QueuePair.Listener, PathRace.Owner {
        IoRegistration registration;
        // Of this registration: one that is scheduled still when the channel leaves the loop must not touch it any more.
        private ReadTask readTask;
        private boolean wasRegistered;
        boolean reading;
        private ChannelPromise connectPromise;
        private Future<?> connectTimeout;
        private InetSocketAddress connectAddress;
        // While another thread is to do the blocking part, or does it.
        private HostExecutor.Task preparing;
        // While several paths are asked.
        private PathRace race;

        // ---- connecting ----

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (connectPromise != null) {
                    throw new ConnectionPendingException();
                }
                if (pair() != null) {
                    throw new AlreadyConnectedException();
                }
                if (localAddress != null) {
                    requireNoLocalPort(localAddress);
                }
                if (!(remoteAddress instanceof InetSocketAddress address)) {
                    throw new ConnectException("an address of type " + remoteAddress.getClass().getName()
                        + " cannot be connected to: an InetSocketAddress is needed");
                }
                if (address.isUnresolved()) {
                    throw new UnresolvedAddressException();
                }
                if (address.getPort() == 0) {
                    throw new ConnectException("port 0 cannot be connected to");
                }
                connectPromise = promise;
                connectAddress = address;
                int timeoutMillis = config().getConnectTimeoutMillis();
                if (timeoutMillis > 0) {
                    connectTimeout = eventLoop().schedule(() -> timedOut(timeoutMillis), timeoutMillis,
                        TimeUnit.MILLISECONDS);
                }
                promise.addListener((ChannelFutureListener) future -> {
                    if (future.isCancelled()) {
                        connectPromise = null;
                        cancelTimeout();
                        cancelPreparing();
                        close(voidPromise());
                    }
                });
                PathChoice made = new PathChoice(paths(), address.getAddress());
                choice = made;
                List<RpmaProvider> candidates = made.candidates();
                InetSocketAddress nameless = SocketAddresses.withoutName(address);
                int patience = timeoutMillis > 0 ? timeoutMillis : Integer.MAX_VALUE;
                if (candidates.size() == 1) {
                    prepare(candidates.getFirst(), nameless, patience);
                } else {
                    race = new PathRace(this, candidates, nameless, patience);
                    race.begin(eventLoop());
                }
            } catch (Throwable t) {
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        private void prepare(RpmaProvider provider, InetSocketAddress address, int timeoutMillis) {
            Dialer dialer = dialer();
            Connector.Prepared atOnce;
            try {
                atOnce = Connector.tryPrepare(provider, address, dialer, timeoutMillis);
            } catch (Throwable e) {
                prepared(null, e);
                return;
            }
            if (atOnce != null) {
                prepared(atOnce, null);
                return;
            }
            try {
                preparing = Connector.execute(provider, address, dialer, timeoutMillis, this::hand);
            } catch (RejectedExecutionException e) {
                prepared(null, new ConnectException(e.getMessage()));
            }
        }

        /** Nobody waits for the connection any more. */
        private void cancelPreparing() {
            if (preparing != null) {
                preparing.cancel();
                preparing = null;
            }
            if (race != null) {
                race.cancel();
                race = null;
            }
        }

        // ---- by several paths ----

        @Override
        public final Dialer newDialer() {
            return dialer();
        }

        @Override
        public final void won(QueuePair established, Map<RpmaPath, String> passedOver) {
            EventLoop loop = eventLoop();
            if (!loop.inEventLoop()) {
                // The channel has moved to another loop meanwhile.
                loop.execute(() -> won(established, passedOver));
                return;
            }
            race = null;
            choice.asked(passedOver);
            if (connectPromise == null || !isOpen()) {
                established.close();
                return;
            }
            established.listener(this);
            dialled(established);
            if (registration != null) {
                established.enter(loop);
                registration.submit(RpmaIoOps.OPEN);
            }
            established();
            if (isOpen()) {
                catchUpWithThePast();
            }
        }

        @Override
        public final void lost(Throwable cause) {
            EventLoop loop = eventLoop();
            if (!loop.inEventLoop()) {
                loop.execute(() -> lost(cause));
                return;
            }
            if (connectPromise != null) {
                failConnectAndClose(cause);
            }
        }

        /** Brings the result of the blocking part to the loop. */
        private void hand(Connector.Prepared prepared, Throwable failure) {
            try {
                eventLoop().execute(() -> prepared(prepared, failure));
            } catch (RuntimeException e) {
                // The loop has ended meanwhile, and the channel with it.
                drop(prepared);
            }
        }

        private void drop(Connector.Prepared prepared) {
            if (prepared != null) {
                try {
                    prepared.drop();
                } catch (RpmaException e) {
                    pipeline().fireExceptionCaught(e);
                }
            }
        }

        private void prepared(Connector.Prepared prepared, Throwable failure) {
            preparing = null;
            if (connectPromise == null || !isOpen()) {
                drop(prepared);
                return;
            }
            if (failure != null) {
                failConnectAndClose(failure instanceof RpmaException e ? ConnectFailure.prepare(e, connectAddress) : failure);
                return;
            }
            try {
                QueuePair created = prepared.connect(connectAddress);
                created.listener(this);
                dialled(created);
                created.enter(eventLoop());
                registration.submit(RpmaIoOps.OPEN);
            } catch (RpmaException e) {
                failConnectAndClose(ConnectFailure.prepare(e, connectAddress));
            } catch (Throwable e) {
                failConnectAndClose(e);
            }
        }

        private void timedOut(int millis) {
            if (connectPromise != null) {
                failConnectAndClose(new ConnectTimeoutException("connection timed out after " + millis + " ms: "
                    + connectAddress + (race == null ? "" : race.reasons())));
            }
        }

        private void failConnectAndClose(Throwable cause) {
            choice.failed(race, cause);
            // A timeout names the address already, and applications tell it from other failures by its type.
            failConnect(cause instanceof ConnectTimeoutException ? cause : annotateConnectException(cause, connectAddress));
            close(voidPromise());
        }

        private void failConnect(Throwable cause) {
            ChannelPromise promise = connectPromise;
            if (promise != null) {
                connectPromise = null;
                promise.tryFailure(cause);
            }
            cancelTimeout();
            cancelPreparing();
        }

        private void cancelTimeout() {
            if (connectTimeout != null) {
                connectTimeout.cancel(false);
                connectTimeout = null;
            }
        }

        /** Whether the connection ended before it was established: then that is dealt with. */
        final boolean connectFailed() {
            QueuePair current = pair();
            if (connectPromise == null || current.broken() == null) {
                return false;
            }
            failConnectAndClose(ConnectFailure.event(current.terminal(), current.broken()));
            return true;
        }

        @Override
        public final void established() {
            ChannelPromise promise = connectPromise;
            if (promise == null || !isOpen()) {
                return;
            }
            connectPromise = null;
            cancelTimeout();
            local = pair().localAddress();
            path = RpmaPath.of(pair().fabric.provider());
            remote = connectAddress.getAddress().isAnyLocalAddress() ? pair().remoteAddress() : connectAddress;
            active = true;
            boolean accepted = promise.trySuccess();
            // The connection was established, whatever a listener of the promise has done since.
            pipeline().fireChannelActive();
            if (!accepted) {
                close(voidPromise());
            }
        }

        @Override
        public final void failed() {
            close(voidPromise());
            closeForcibly();
        }

        @Override
        public final void posted() {
            if (registration != null && pair().awaitsCompletions()) {
                registration.submit(RpmaIoOps.HOT);
            }
        }

        @Override
        public final void flushed() {
            IoRegistration current = registration;
            eventLoop().schedule(() -> {
                QueuePair pair = pair();
                if (registration == current && pair != null) {
                    pair.eventIsOverdue();
                }
            }, QueuePair.EVENT_MILLIS, TimeUnit.MILLISECONDS);
        }

        // ---- on one loop after the other ----

        private void begin(IoRegistration with) {
            registration = with;
            wasRegistered = true;
            readTask = new ReadTask();
            if (pair() != null) {
                pair().enter(eventLoop());
                with.submit(RpmaIoOps.OPEN);
                if (pair().isFlushed()) {
                    flushed();
                }
            }
        }

        /** What came, how the connection ended, and what was to be sent, before this loop watched: no event tells it again. */
        private void catchUpWithThePast() {
            if (hasInput()) {
                later(this::readable);
            }
            ChannelOutboundBuffer outbound = outboundBuffer();
            if (outbound != null && !outbound.isEmpty()) {
                later(this::writable);
            }
        }

        /** Does something later, unless the channel has left this loop by then: its next registration catches up. */
        final void later(Runnable task) {
            IoRegistration current = registration;
            eventLoop().execute(() -> {
                if (registration == current) {
                    task.run();
                }
            });
        }

        /** Reads on later; while no loop has the channel, once one has. */
        final void scheduleRead() {
            ReadTask task = readTask;
            if (task != null && !task.isScheduled && !reading) {
                task.isScheduled = true;
                eventLoop().execute(task);
            }
        }

        /** Reads on, if there is something to be read, and somebody who wants it. */
        abstract void readScheduled();

        private final class ReadTask implements Runnable {
            private boolean isScheduled;

            @Override
            public void run() {
                isScheduled = false;
                if (readTask == this) {
                    readScheduled();
                }
            }
        }

        // ---- events of the queue pair ----

        /** Whether something can be read, or the end of the connection is still to be told. */
        abstract boolean hasInput();

        @Override
        public final int[] eventFds() {
            return new int[] {pair().eventFd()};
        }

        @Override
        public final void eventsReady() {
            QueuePair current = pair();
            if (current != null) {
                current.drainEvents();
            }
        }

        @Override
        public final CompletionQueue completionQueue() {
            return pair().completionQueue();
        }

        @Override
        public final boolean awaitsCompletions() {
            QueuePair current = pair();
            return current != null && current.awaitsCompletions();
        }

        @Override
        public final int poll(WorkCompletions batch) {
            QueuePair current = pair();
            return current != null ? current.poll(batch) : 0;
        }

        @Override
        protected void flush0() {
            super.flush0();
            if (registration != null && active) {
                pair().takeSent();
                posted();
            }
        }

        // ---- the end ----

        @Override
        public void close() {
            close(voidPromise());
        }

        @Override
        public void destroy() {
            closeForcibly();
        }

        @Override
        public final String toString() {
            return AbstractRpmaChannel.this.toString();
        }
    }
}
