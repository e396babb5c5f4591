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

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.connect.ConnectAttempt;
import io.rpma.netty.connect.ConnectFailure;
import io.rpma.netty.connect.Dialer;
import io.rpma.netty.connect.SocketAddresses;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.util.Map;

/**
 * What a channel does from the call of {@code connect} until it is active. It begins a {@link ConnectAttempt}, takes over the
 * connection, and notifies the promise and the pipeline of the result.
 *
 * <p>Used by the event loop of the channel, unless stated otherwise.
 */
final class Connecting implements ConnectAttempt.Owner {
    private static final InliningBarrier BEGIN = new InliningBarrier(MethodHandles.lookup(), ConnectAttempt.class, "begin",
        MethodType.methodType(void.class, int.class));

    private final AbstractRpmaChannel channel;
    private final AbstractRpmaChannel.ConnectionUnsafe unsafe;
    // Null unless the channel is connecting.
    private ConnectAttempt attempt;
    // Null before the channel connects, and in a child of a server channel, where the client has chosen the path.
    private volatile PathChoice choice;

    /** Prepares for a channel that is being constructed. */
    Connecting(AbstractRpmaChannel channel, AbstractRpmaChannel.ConnectionUnsafe unsafe) {
        this.channel = channel;
        this.unsafe = unsafe;
    }

    /** Returns whether the channel is connecting. */
    boolean isUnderWay() {
        return attempt != null;
    }

    /** Returns whether the channel has begun to connect, now or earlier. May be called on any thread. */
    boolean hasBegun() {
        return choice != null;
    }

    /**
     * Begins to connect.
     *
     * @param local the local address that the application has asked for, or {@code null}
     */
    void begin(SocketAddress remote, SocketAddress local, ChannelPromise promise) throws ConnectException {
        if (channel.pair() != null) {
            throw new AlreadyConnectedException();
        }
        if (local != null) {
            SocketAddresses.requireNoLocalPort(local);
        }
        InetSocketAddress address = SocketAddresses.requireConnectable(remote);
        // Invalid options throw here, before the attempt begins.
        PathChoice made = new PathChoice(channel.paths(), address.getAddress());
        ConnectAttempt begun = new ConnectAttempt(this, PublicTypes.INSTANCE, promise, address, made);
        choice = made;
        attempt = begun;
        promise.addListener((ChannelFutureListener) future -> {
            if (future.isCancelled()) {
                end();
                unsafe.close(unsafe.voidPromise());
            }
        });
        try {
            BEGIN.method().invokeExact(begun, channel.config().getConnectTimeoutMillis());
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Called when the channel has been registered with an event loop, which may not be the first one. */
    void enter() {
        if (attempt != null) {
            attempt.enter();
        }
    }

    /** Ends the attempt to connect, if there is one. Returns its promise, or {@code null}. */
    ChannelPromise end() {
        ConnectAttempt ended = attempt;
        attempt = null;
        return ended == null ? null : ended.end();
    }

    /** Returns the reasons why each better path was not taken. May be called on any thread. */
    Map<RpmaPath, String> notTaken() {
        PathChoice made = choice;
        return made == null ? Map.of() : made.notTaken(channel.path());
    }

    @Override
    public EventLoop eventLoop() {
        return channel.eventLoop();
    }

    @Override
    public boolean isOpen() {
        return channel.open;
    }

    @Override
    public Dialer newDialer() {
        return channel.dialer();
    }

    @Override
    public void dialled(QueuePair created) {
        watch(created);
    }

    @Override
    public void connected(QueuePair established) {
        watch(established);
        established();
        if (channel.open) {
            unsafe.catchUpWithThePast();
        }
    }

    /** Takes over a connection. If no loop has the channel, the loop with which it is registered next does the rest. */
    private void watch(QueuePair pair) {
        pair.listener(unsafe);
        channel.dialled(pair);
        if (unsafe.registration != null) {
            pair.enter(eventLoop());
            unsafe.registration.submit(RpmaIoOps.OPEN);
        }
    }

    @Override
    public void exceptionCaught(Throwable cause) {
        channel.pipeline().fireExceptionCaught(cause);
    }

    @Override
    public void notConnected(Throwable cause) {
        if (attempt != null) {
            InetSocketAddress address = attempt.address();
            // The message of a timeout contains the address already, and applications distinguish it from other failures by
            // its type.
            end().tryFailure(cause instanceof ConnectTimeoutException ? cause : unsafe.annotated(cause, address));
        }
        unsafe.close(unsafe.voidPromise());
    }

    /** Returns whether the connection ended before it was established; if so, fails the connect. */
    boolean hasFailed() {
        if (attempt == null) {
            return false;
        }
        QueuePair current = channel.pair();
        if (current.broken() == null) {
            return false;
        }
        attempt.fail(ConnectFailure.event(current.types, current.terminal(), current.broken(), attempt.address()));
        return true;
    }

    /** Called when the connection has been established: the channel becomes active. */
    void established() {
        if (attempt == null || !channel.open) {
            return;
        }
        InetSocketAddress address = attempt.address();
        ChannelPromise promise = end();
        QueuePair pair = channel.pair();
        if (unsafe.registration != null) {
            unsafe.registration.submit(RpmaIoOps.WATCH);
        }
        channel.activate(pair, address.getAddress().isAnyLocalAddress() ? pair.remoteAddress() : address);
        boolean accepted = promise.trySuccess();
        // Fire channelActive unconditionally: the connection was established, even if a listener of the promise has closed
        // the channel.
        channel.pipeline().fireChannelActive();
        if (!accepted) {
            unsafe.close(unsafe.voidPromise());
        }
    }
}
