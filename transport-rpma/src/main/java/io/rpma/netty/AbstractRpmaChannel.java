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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoRegistration;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.connect.Connector;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.connect.SocketAddresses;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.EventDescriptors;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.QueuePairCalls;
import io.rpma.netty.pair.QueuePairListener;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The base class of all connected channels of this transport. It implements what does not depend on the kind of data:
 * registration, connecting, closing and addresses.
 */
abstract class AbstractRpmaChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    volatile boolean open = true;
    volatile boolean active;
    private volatile RpmaPath path;
    private volatile InetSocketAddress local;
    private volatile InetSocketAddress remote;

    AbstractRpmaChannel(Channel parent) {
        super(parent);
    }

    /** Initializes the child of a server channel, whose connection is established already. */
    final void adopted(QueuePair pair) {
        activate(pair, pair.remoteAddress());
        pair.listener(handle());
    }

    /** Makes the channel active. Does not notify its pipeline. */
    final void activate(QueuePair established, InetSocketAddress peer) {
        local = established.localAddress();
        path = RpmaPath.of(established.fabric.provider());
        remote = peer;
        active = true;
    }

    /**
     * Returns the path that the connection has taken, or {@code null} before it is established. The value is kept when the
     * channel is closed.
     */
    public final RpmaPath path() {
        return path;
    }

    /**
     * Returns the reasons, in words, why each better path was not taken: for the paths that precede {@link #path()} in the
     * {@link RpmaChannelOption#RPMA_PATHS} that the channel had when it connected, best first. If the connection failed, these
     * are all paths that were tried or could not be tried. The map is empty before the connection is established, if the best
     * path was taken, and for children of a server channel, where the client has chosen the path. The value is kept when the
     * channel is closed.
     */
    public final Map<RpmaPath, String> pathsNotTaken() {
        return handle().connecting.notTaken();
    }

    private ConnectionUnsafe handle() {
        return (ConnectionUnsafe) unsafe();
    }

    /** Returns the connection, or {@code null} before there is one. */
    abstract QueuePair pair();

    /** Returns the paths that a connection may take, by the current options. */
    abstract List<RpmaPath> paths();

    /** Returns a dialer with the current options. */
    abstract Dialer dialer();

    /** Stores the connection that is being established. */
    abstract void dialled(QueuePair connecting);

    /** Ends an established connection that is not watched any more; called on the event loop. */
    abstract void end(QueuePair closing, EventLoop loop);

    /**
     * Applies the description of the peer's platform ({@code rpma_conn_apply_remote_peer_cfg(3)}), so that
     * {@link io.rpma.FlushType#PERSISTENT} can be used if the platform supports it.
     *
     * @param descriptor the result of {@link RpmaPeerConfig#descriptor} on the peer; it is not trusted, its position does not
     *     move, and it may be changed after the call
     * @return a future that succeeds when the configuration applies to all operations that are written afterwards; it fails if
     *     the channel is not connected, or has no event loop. It cannot be cancelled
     */
    public ChannelFuture applyPeerConfig(ByteBuffer descriptor) {
        return RemotePeerConfig.apply(this, descriptor);
    }

    /** Returns Netty's description of a channel, extended by the path that the connection has taken. */
    @Override
    public String toString() {
        String channel = super.toString();
        RpmaPath taken = path;
        return taken == null ? channel : channel.substring(0, channel.length() - 1) + " by " + taken + ']';
    }

    /** Returns this channel as its configuration sees it. */
    final OptionOwner optionOwner() {
        return new OptionOwner() {
            @Override
            public boolean isServer() {
                return false;
            }

            @Override
            public boolean hasBegun() {
                return pair() != null || handle().connecting.hasBegun();
            }

            @Override
            public Set<String> warnings() {
                return parent() instanceof AbstractRpmaServerChannel server ? server.warnings() : null;
            }

            @Override
            public void clearReadPending() {
                EventLoops.clearReadPending(AbstractRpmaChannel.this, handle().reads::served);
            }
        };
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
        // doRegister() refuses incompatible loops with a more helpful message.
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
            handle().reads.deregistered();
            if (open && pair() != null) {
                pair().leave();
            }
            registration.cancel();
        }
    }

    @Override
    protected void doBeginRead() throws Exception {
        handle().reads.request();
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        if (active) {
            throw new AlreadyBoundException();
        }
        SocketAddresses.requireNoLocalPort(address);
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
        ChannelPromise connectPromise = unsafe.connecting.end();
        if (connectPromise != null) {
            connectPromise.tryFailure(new ClosedChannelException());
        }
        IoRegistration registration = unsafe.registration;
        QueuePair closing = pair();
        if (registration == null && !(unsafe.wasRegistered && eventLoop().inEventLoop())) {
            // The descriptors are not watched, and there is no loop that could wait for the delivery.
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
            if (registration == null) {
                // The channel had left this loop, which now uses the connection again until everything has been delivered.
                closing.enter(loop);
            }
            end(closing, loop);
        } else {
            // The connection was never established, so nothing has to be delivered.
            Connector.abandon(closing);
        }
    }

    /** The unsafe of the channel, which is also its handle on the event loop. */
    abstract class ConnectionUnsafe extends AbstractUnsafe implements RpmaIoHandle, QueuePairListener, ReadLoop.Source {
        IoRegistration registration;
        final ReadLoop reads = new ReadLoop(AbstractRpmaChannel.this, this);
        private boolean wasRegistered;
        final Connecting connecting = new Connecting(AbstractRpmaChannel.this, this);

        // ---- connecting ----

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            if (connecting.isUnderWay()) {
                promise.tryFailure(annotateConnectException(new ConnectionPendingException(), remoteAddress));
                return;
            }
            try {
                connecting.begin(remoteAddress, localAddress, promise);
            } catch (Throwable t) {
                connecting.end();
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        /** Returns an exception with the address that could not be connected to. */
        final Throwable annotated(Throwable cause, SocketAddress remoteAddress) {
            return annotateConnectException(cause, remoteAddress);
        }

        @Override
        public final void established() {
            connecting.established();
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
        public final void ending() {
            IoRegistration current = registration;
            eventLoop().schedule(() -> {
                QueuePair pair = pair();
                if (registration == current && pair != null) {
                    pair.endIsOverdue();
                }
            }, pair().overdueMillis(), TimeUnit.MILLISECONDS);
            // Completions that were handled together with the event may have ended work.
            later(this::writable);
        }

        // ---- registration with one loop after another ----

        private void begin(IoRegistration with) {
            registration = with;
            wasRegistered = true;
            reads.registered();
            connecting.enter();
            if (pair() != null) {
                pair().enter(eventLoop());
                with.submit(RpmaIoOps.OPEN);
                if (pair().isEnding()) {
                    ending();
                }
            }
        }

        /**
         * Handles data, an end of the connection and pending writes from before this registration: no event is delivered for
         * them again.
         */
        final void catchUpWithThePast() {
            if (hasInput()) {
                later(this::readable);
            }
            ChannelOutboundBuffer outbound = outboundBuffer();
            if (outbound != null && !outbound.isEmpty()) {
                later(this::writable);
            }
        }

        /**
         * Runs a task later, unless the channel has left this loop by then, or has left it already; in that case its next
         * registration handles the missed work.
         */
        final void later(Runnable task) {
            IoRegistration current = registration;
            if (current != null) {
                eventLoop().execute(() -> {
                    if (registration == current) {
                        task.run();
                    }
                });
            }
        }

        /**
         * Ends the channel soon if the connection is broken; called after work has been posted. No completion and no event
         * reports that work could not be posted. A channel that no loop has is ended by its next loop.
         */
        final void endIfBroken() {
            if (registration != null && pair().broken() != null) {
                later(this::readable);
            }
        }

        // ---- events of the queue pair ----

        @Override
        public final int[] eventFds(Runnable ready) {
            return EventDescriptors.of(pair().connection, ready);
        }

        @Override
        public final void eventsReady() {
            QueuePair current = pair();
            if (current != null) {
                QueuePairCalls.drainEvents(current);
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
