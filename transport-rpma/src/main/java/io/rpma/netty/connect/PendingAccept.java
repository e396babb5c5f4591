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
package io.rpma.netty.connect;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;

/**
 * A connection that has been accepted and is not established yet, like a TCP connection between SYN and ACK. It is watched on
 * the event loop of the server channel, and moves with that channel to another one. The child channel is created only when the
 * connection is established, so that everything that it sends reaches the client.
 */
public final class PendingAccept extends AwaitedConnection {
    /** How long a client that does not answer keeps its place in a backlog that is not full. */
    private static final long MILLIS = 10_000;
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(MILLIS);

    private static final InliningBarrier ESTABLISHED = new InliningBarrier(MethodHandles.lookup(), Owner.class, "established",
        MethodType.methodType(void.class, PendingAccept.class, QueuePair.class));

    private final Owner owner;
    private final Promise<Channel> promise;
    private final long since = System.nanoTime();
    // Null while no loop watches the connection.
    private EventLoop watching;

    /** What accepted the connection for its server channel. All methods are called on the event loop. */
    public interface Owner {
        /** Takes over an established connection, which may have ended meanwhile. It is not watched any more. */
        void established(PendingAccept pending, QueuePair pair);

        /** Called when a connection was not established; it has been closed already. */
        void failed(PendingAccept pending, String why);
    }

    /**
     * Takes over a connection.
     *
     * @param promise the promise for the application that decided about the client, or {@code null}
     */
    public PendingAccept(QueuePair pair, Owner owner, Promise<Channel> promise) {
        this.pair = pair;
        this.owner = owner;
        this.promise = promise;
        pair.listener(this);
    }

    /** Returns the promise for the application that decided about the client, or {@code null}. */
    public Promise<Channel> promise() {
        return promise;
    }

    /** Returns the time of the acceptance, by {@code System.nanoTime()}. */
    public long since() {
        return since;
    }

    /** Returns the address of the client's host, or {@code null} if it is not known. */
    public InetAddress host() {
        return pair.remoteAddress() == null ? null : pair.remoteAddress().getAddress();
    }

    /** Closes the connection, because its place in the backlog is needed; called on the event loop. */
    public void giveUp() {
        fail("the client did not answer for " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since)
            + " ms, and the backlog was full");
    }

    /** Returns how many of the nanoseconds are left that the client has to answer; 0 or less if its time is over. */
    public long nanosLeft(long now) {
        return NANOS - (now - since);
    }

    /** Closes the connection, because the time of the client is over; called on the event loop. */
    public void overdue() {
        fail("the client did not answer for " + MILLIS + " ms");
    }

    /** Begins to watch the connection; called on the event loop. */
    public void watch(EventLoop loop) {
        watching = loop;
        ((IoEventLoop) loop).register(this).addListener(future -> {
            if (watching != loop) {
                // Netty defers a listener if its stack is deep. The connection has ended, or left the loop, meanwhile.
                if (future.isSuccess()) {
                    ((IoRegistration) future.getNow()).cancel();
                }
                return;
            }
            if (!future.isSuccess()) {
                fail("it cannot be watched: " + future.cause());
                return;
            }
            registration = (IoRegistration) future.getNow();
            registration.submit(RpmaIoOps.OPEN);
        });
    }

    /** Stops watching the connection, because the server channel leaves the event loop; called on that loop. */
    public void unwatch() {
        watching = null;
        if (registration != null) {
            registration.cancel();
            registration = null;
        }
    }

    @Override
    public void failed() {
        fail("it could not be watched");
    }

    @Override
    void connectionEstablished() {
        release();
        try {
            ESTABLISHED.method().invokeExact(owner, this, pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    @Override
    void connectionBroken() {
        fail(pair.broken().getMessage());
    }

    private void release() {
        done = true;
        unwatch();
    }

    private void fail(String why) {
        if (!done) {
            release();
            try {
                pair.close();
            } finally {
                owner.failed(this, why);
            }
        }
    }

    @Override
    public void close() {
        fail("the server is closed");
    }

    @Override
    public String toString() {
        return "accepting " + pair;
    }
}
