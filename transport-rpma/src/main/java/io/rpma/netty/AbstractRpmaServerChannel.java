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
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.rpma.CompletionQueue;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.connect.LogLimit;
import io.rpma.netty.connect.RefusedConnection;
import io.rpma.netty.connect.SocketAddresses;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.TransportLogger;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The base class of the server channels of this transport. It implements what does not depend on the kind of child: listening,
 * and passing the children that an {@link Acceptor} makes to the pipeline.
 */
abstract class AbstractRpmaServerChannel extends AbstractChannel implements ServerChannel {
    static final InternalLogger LOGGER = TransportLogger.LOGGER;
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** How long a client may take to answer, in milliseconds ({@code rpma_conn_cfg_set_timeout(3)}). */
    static final int REQUEST_TIMEOUT_MILLIS = 1_000;

    // One for each path, or for each address of a path; empty before the channel is bound.
    private volatile List<Listening> listening = List.of();
    private volatile InetSocketAddress local;
    private volatile boolean open = true;
    private final Set<String> warnings = ConcurrentHashMap.newKeySet();
    private final LoopTasks tasks = new LoopTasks();
    private final LogLimit refusals = new LogLimit(System::nanoTime,
        // Not by a timer of the event loop, which may end after this channel has left it.
        task -> GlobalEventExecutor.INSTANCE.schedule(() -> tasks.run(task), LogLimit.WINDOW_NANOS, TimeUnit.NANOSECONDS),
        count -> LOGGER.warn("{} more connections to {} were not accepted within a second.", count, local));
    private final Backlog backlog = new Backlog(this::backlog);
    private final Acceptor acceptor = new Acceptor(this, handle(), backlog, tasks);
    // The refused connections that the event loop of this channel watches.
    private Set<RefusedConnection> refused = new LinkedHashSet<>();

    AbstractRpmaServerChannel() {
        super(null);
    }

    /** Returns the paths to listen on, by the current options. */
    abstract List<RpmaPath> paths();

    /** Prepares the next child; see {@link ChildPreparation}. */
    abstract NextChild newNext(Fabric fabric, boolean first) throws RpmaException;

    /** Returns whether connections can be made better once it is known which loops the children are registered with. */
    boolean wantsChildLoops() {
        return false;
    }

    /** Called when it is known which loops the children are registered with. Any thread. */
    final void childLoopsKnown() {
        tasks.run(acceptor::childLoopsKnown);
    }

    /** Returns the options with the request handler, or {@code null} if all clients are accepted. */
    RequestOptions requests() {
        return null;
    }

    /** Creates the channel of an established connection. */
    abstract Channel newChild(QueuePair pair);

    private ServerUnsafe handle() {
        return (ServerUnsafe) unsafe();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new ServerUnsafe();
    }

    /** Returns the warnings that were logged about options without effect on this channel or its children. */
    final Set<String> warnings() {
        return warnings;
    }

    /** Returns the limit for log messages about clients that are not accepted. */
    final LogLimit refusals() {
        return refusals;
    }

    /** Returns the refused connections that have not been destroyed yet; called on the event loop. */
    final Set<RefusedConnection> refused() {
        return refused;
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
                + ", and a descriptor is valid for only one of them: set RPMA_PRIVATE_DATA_FACTORY to region::descriptor, which"
                + " is called for each device, or set RPMA_PATHS to one path, or request the descriptor for one of its child"
                + " channels");
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
            handle().begin(registration);
            promise.setSuccess();
            handle().catchUpWithThePast();
        });
    }

    @Override
    protected void doDeregister() {
        IoRegistration registration = handle().registration;
        if (registration != null) {
            handle().registration = null;
            handle().readScheduled = false;
            tasks.leave();
            acceptor.leave();
            // The refused connections remain on this loop, with this set, until they end.
            refused = new LinkedHashSet<>();
            registration.cancel();
        }
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress inet = SocketAddresses.requireBindable(address);
        if (!listening.isEmpty()) {
            throw new AlreadyBoundException();
        }
        List<Listening> bound = new Binding(this, paths(), this::newNext).bind(inet);
        local = Binding.localAddress(inet, bound);
        listening = bound;
        IoRegistration registration = handle().registration;
        if (registration != null) {
            // Otherwise no loop has the channel, and its next registration opens it.
            registration.submit(RpmaIoOps.OPEN);
        }
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
        acceptor.close();
        tasks.close();
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
        if (backlog.hasAccepted()) {
            unsafe.scheduleRead();
        }
    }

    /** Returns this channel as its configuration sees it. */
    final OptionOwner optionOwner() {
        return new OptionOwner() {
            @Override
            public boolean isServer() {
                return true;
            }

            @Override
            public boolean hasBegun() {
                return !listening.isEmpty();
            }

            @Override
            public Set<String> warnings() {
                return warnings;
            }

            @Override
            public void clearReadPending() {
                EventLoops.clearReadPending(AbstractRpmaServerChannel.this, () -> handle().readPending = false);
            }
        };
    }

    /** The unsafe of the channel, which is also its handle on the event loop. */
    private final class ServerUnsafe extends AbstractUnsafe implements RpmaIoHandle, Acceptor.Owner {
        private IoRegistration registration;
        private boolean readPending;
        private boolean readScheduled;
        private boolean reading;
        private boolean hasRead;
        private final Runnable readTask = this::readScheduled;

        // ---- registration with one loop after another ----

        private void begin(IoRegistration with) {
            registration = with;
            tasks.enter(eventLoop());
            if (!listening.isEmpty()) {
                with.submit(RpmaIoOps.OPEN);
            }
            acceptor.enter();
        }

        /** Handles connections, requests and channels from before this registration: not all events are delivered again. */
        private void catchUpWithThePast() {
            if (!listening.isEmpty()) {
                later(() -> {
                    backlog.catchUpWithThePast();
                    eventsReady();
                });
            }
        }

        @Override
        public void later(Runnable task) {
            IoRegistration current = registration;
            if (current != null) {
                eventLoop().execute(() -> {
                    if (registration == current) {
                        task.run();
                    }
                });
            }
        }

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException("a server channel cannot be connected"));
        }

        @Override
        public int[] eventFds(Runnable ready) {
            return listening.stream().mapToInt(each -> each.endpoint().fd()).toArray();
        }

        @Override
        public void eventsReady() {
            Throwable failure = acceptor.acceptAll();
            if (!isOpen()) {
                return;
            }
            if (failure != null) {
                pipeline().fireExceptionCaught(failure);
            }
            if (backlog.hasAccepted() && wantsRead()) {
                read();
            }
        }

        @Override
        public List<Listening> listening() {
            return listening;
        }

        @Override
        public NextChild newNext(Fabric fabric, boolean first) throws RpmaException {
            return AbstractRpmaServerChannel.this.newNext(fabric, first);
        }

        @Override
        public RequestOptions requests() {
            return AbstractRpmaServerChannel.this.requests();
        }

        @Override
        public boolean wantsChildLoops() {
            return AbstractRpmaServerChannel.this.wantsChildLoops();
        }

        @Override
        public Channel newChild(QueuePair pair) {
            return AbstractRpmaServerChannel.this.newChild(pair);
        }

        @Override
        public LogLimit refusals() {
            return refusals;
        }

        @Override
        public boolean isReading() {
            return reading;
        }

        @Override
        public void childAccepted() {
            if (wantsRead()) {
                scheduleRead();
            }
        }

        @Override
        public boolean wantsRead() {
            return readPending || config().isAutoRead();
        }

        private void scheduleRead() {
            if (!readScheduled && !reading && registration != null) {
                readScheduled = true;
                later(readTask);
            }
        }

        private void readScheduled() {
            readScheduled = false;
            if (isOpen() && wantsRead() && backlog.hasAccepted()) {
                read();
            }
        }

        private void read() {
            if (reading) {
                return;
            }
            ChannelPipeline pipeline = pipeline();
            Throwable handleFailure = null;
            reading = true;
            hasRead = false;
            try {
                RecvByteBufAllocator.ExtendedHandle handle = (RecvByteBufAllocator.ExtendedHandle) recvBufAllocHandle();
                handle.reset(config());
                handle.attemptedBytesRead(1);
                try {
                    readAccepted(handle, pipeline);
                } finally {
                    handle.readComplete();
                }
            } catch (Throwable e) {
                readPending = false;
                handleFailure = e;
            }
            pipeline.fireChannelReadComplete();
            reading = false;
            if (handleFailure != null) {
                pipeline.fireExceptionCaught(handleFailure);
            }
            // There is room in the backlog again, and the descriptor does not report the requests again that had no room.
            Throwable failure = acceptor.acceptRest();
            if (failure != null) {
                pipeline.fireExceptionCaught(failure);
            }
            // A handle that can read nothing is called again when there is another client, or a request to read.
            if (isOpen() && wantsRead() && backlog.hasAccepted() && (hasRead || handleFailure == null)) {
                scheduleRead();
            }
        }

        /** Passes the channels of the backlog to the pipeline, as far as the handle allows. */
        private void readAccepted(RecvByteBufAllocator.ExtendedHandle handle, ChannelPipeline pipeline) {
            do {
                Channel child = backlog.pollAccepted();
                if (child == null) {
                    handle.lastBytesRead(0);
                    return;
                }
                try {
                    handle.lastBytesRead(1);
                    handle.incMessagesRead(1);
                } finally {
                    // Even if a handle of the application throws an exception: nobody else would close the child.
                    hasRead = true;
                    readPending = false;
                    pipeline.fireChannelRead(child);
                    acceptor.childRead();
                }
            } while (handle.continueReading());
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
