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

import io.netty.channel.EventLoop;
import io.netty.util.internal.PlatformDependent;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.pair.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetSocketAddress;

/**
 * The steps in the life of a connection, from the attempt to connect until its end. They are called through an
 * {@link InliningBarrier}, so that each is compiled separately. A connection executes several hundred methods, most of them once.
 * If C2 inlined the steps into one another and into the event loop, a server or a client that makes many short connections would
 * take twice as long to reach its full rate.
 *
 * <p>The methods have the threads, the effects and the errors of those that they call.
 */
public final class ConnectionSteps {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final InliningBarrier BEGIN = new InliningBarrier(LOOKUP, ConnectAttempt.class, "begin",
        MethodType.methodType(void.class, int.class));
    private static final InliningBarrier DIAL = new InliningBarrier(LOOKUP, Dialer.class, "connect",
        MethodType.methodType(QueuePair.class, Fabric.class, ConnectionRequest.class, InetSocketAddress.class));
    private static final InliningBarrier DRAIN_EVENTS = new InliningBarrier(LOOKUP, QueuePair.class, "drainEvents",
        MethodType.methodType(void.class));
    private static final InliningBarrier ESTABLISHED = new InliningBarrier(LOOKUP, PendingAccept.Owner.class, "established",
        MethodType.methodType(void.class, PendingAccept.class, QueuePair.class));
    private static final InliningBarrier START_LINGERING = InliningBarrier.ofStatic(LOOKUP, LingeringClose.class, "start",
        MethodType.methodType(void.class, QueuePair.class, boolean.class, EventLoop.class, long.class));
    private static final InliningBarrier CLOSE = new InliningBarrier(LOOKUP, QueuePair.class, "close",
        MethodType.methodType(void.class));

    private ConnectionSteps() {
    }

    /** Begins to connect; see {@link ConnectAttempt#begin}. */
    public static void begin(ConnectAttempt attempt, int millis) {
        try {
            BEGIN.method().invokeExact(attempt, millis);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Requests a connection; see {@link Dialer#connect}. */
    static QueuePair dial(Dialer dialer, Fabric fabric, ConnectionRequest request, InetSocketAddress remote)
            throws RpmaException {
        try {
            return (QueuePair) DIAL.method().invokeExact(dialer, fabric, request, remote);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return null;
        }
    }

    /** Handles the events of a connection; see {@link QueuePair#drainEvents}. */
    public static void drainEvents(QueuePair pair) {
        try {
            DRAIN_EVENTS.method().invokeExact(pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Passes an established connection to its server channel; see {@link PendingAccept.Owner#established}. */
    static void established(PendingAccept.Owner owner, PendingAccept pending, QueuePair pair) {
        try {
            ESTABLISHED.method().invokeExact(owner, pending, pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Begins to close a queue pair; see {@link LingeringClose#start}. */
    static void startLingering(QueuePair pair, boolean orderly, EventLoop loop, long millis) {
        try {
            START_LINGERING.method().invokeExact(pair, orderly, loop, millis);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Destroys a queue pair; see {@link QueuePair#close}. */
    static void close(QueuePair pair) {
        try {
            CLOSE.method().invokeExact(pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }
}
