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

import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.PlatformDependent;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.jit.InliningBarrier;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.pair.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Performs the blocking part of connecting: the resolution of a device, an address and a route. It runs on platform threads of
 * its own (a blocking native call would pin a virtual thread), which end when they are idle. {@link HostExecutor} ensures that
 * hosts and ports which do not answer do not delay connections to others. Each path has an executor of its own, so that a path
 * which does not answer does not delay the others to the same host.
 */
public final class Connector {
    private static final int MAX_THREADS = 128;
    private static final int MAX_WAITING = 65_536;
    private static final int MAX_KNOWN = 1024;

    private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS,
        new SynchronousQueue<>(), new ConnectorThreads());
    private static final ConcurrentHashMap<RpmaProvider, HostExecutor> EXECUTORS = new ConcurrentHashMap<>();

    // The fabric over which an address was last reached, so that only the first connection to it has to resolve the fabric.
    private static final ConcurrentHashMap<Target, Fabric> KNOWN = new ConcurrentHashMap<>();

    private Connector() {
    }

    /** An address, and the provider by which it is reached. */
    private record Target(RpmaProvider provider, InetAddress address) {
    }

    /** Threads that may block: BlockHound, if it is installed, does not allow that on other Netty threads. */
    private static final class ConnectorThreads extends DefaultThreadFactory {
        ConnectorThreads() {
            super("rpma-connector", true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            return new FastThreadLocalThread(threadGroup, task, name) {
                @Override
                public boolean permitBlockingCalls() {
                    return true;
                }
            };
        }
    }

    /** Receives the result of the blocking part; called on any thread. */
    interface Receiver {
        /** Called with the result; exactly one of the two is not {@code null}. */
        void prepared(Prepared prepared, Throwable failure);
    }

    private static HostExecutor executor(RpmaProvider provider) {
        return EXECUTORS.computeIfAbsent(provider, path -> new HostExecutor(THREADS, MAX_THREADS, MAX_WAITING));
    }

    /**
     * Prepares a request on another thread.
     *
     * @param provider the provider by which to connect
     * @param remote a resolved address, which may be a loopback or wildcard one
     * @param dialer creates the configuration
     * @param timeoutMillis how long it may take, including the time that it waits for a thread
     * @param receiver called with the result, unless the task is cancelled before it begins
     * @throws RejectedExecutionException if too many tasks wait; the message says how many
     */
    static HostExecutor.Task execute(RpmaProvider provider, InetSocketAddress remote, Dialer dialer, int timeoutMillis,
            Receiver receiver) {
        long since = System.nanoTime();
        return executor(provider).execute(remote, () -> {
            Prepared prepared;
            try {
                long left = timeoutMillis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
                if (left <= 0) {
                    throw new ConnectTimeoutException("connection timed out after " + timeoutMillis + " ms: " + remote);
                }
                prepared = prepare(provider, remote, dialer, (int) left);
            } catch (Throwable e) {
                receiver.prepared(null, e);
                return false;
            }
            receiver.prepared(prepared, null);
            return true;
        });
    }

    /**
     * Prepares a request if that is possible without waiting.
     *
     * @return the request; {@code null} if it has to be prepared by {@link #prepare} on another thread
     */
    static Prepared tryPrepare(RpmaProvider provider, InetSocketAddress remote, Dialer dialer, int timeoutMillis)
            throws RpmaException {
        Fabric fabric = KNOWN.get(new Target(provider, remote.getAddress()));
        if (fabric == null || !fabric.peer().mayRequestAtOnce()) {
            return null;
        }
        ConnectionRequest request;
        try (ConnectionConfig config = dialer.newConfig(fabric, timeoutMillis)) {
            request = fabric.peer().tryNewConnectionRequest(remote, config);
        } catch (RpmaException | RuntimeException e) {
            dialer.dropped();
            throw e;
        }
        if (request == null) {
            dialer.dropped();
            return null;
        }
        return new Prepared(fabric, dialer, request, null);
    }

    /**
     * Destroys a queue pair whose connection was requested and never established. On an iWARP device this takes seconds while
     * the peer does not answer, and is therefore done by another thread.
     *
     * @param pair a queue pair that is not watched any more
     */
    public static void abandon(QueuePair pair) {
        if (pair.fabric.isIwarp()) {
            try {
                executor(pair.fabric.provider()).execute(pair.remoteAddress, () -> {
                    pair.close();
                    return false;
                });
                return;
            } catch (RejectedExecutionException e) {
                // Too many tasks wait already. The queue pair must be closed nevertheless, even if this thread has to wait for
                // the device.
            }
        }
        pair.close();
    }

    /**
     * Prepares a request; blocks. On an iWARP device, which connects by TCP first, requesting the connection blocks as well and
     * is therefore done here.
     *
     * @param remote a resolved address, which may be a loopback or wildcard one
     * @param dialer creates the configuration
     * @param timeoutMillis how long it may take
     */
    private static Prepared prepare(RpmaProvider provider, InetSocketAddress remote, Dialer dialer, int timeoutMillis)
            throws RpmaException {
        InetAddress address = provider.reachable(remote.getAddress());
        Target target = new Target(provider, address);
        Fabric fabric = KNOWN.get(target);
        if (fabric == null) {
            fabric = Fabric.of(provider.remoteDevice(address));
            if (KNOWN.size() >= MAX_KNOWN) {
                KNOWN.clear();
            }
            KNOWN.put(target, fabric);
        }
        RegisteredMemory.prepare(fabric);
        try (ConnectionConfig config = dialer.newConfig(fabric, timeoutMillis)) {
            ConnectionRequest request = request(fabric, new InetSocketAddress(address, remote.getPort()), config);
            return new Prepared(fabric, dialer, request, fabric.isIwarp() ? dialer.connect(fabric, request, remote) : null);
        } catch (RpmaException | RuntimeException e) {
            KNOWN.remove(target);
            dialer.dropped();
            throw e;
        }
    }

    private static ConnectionRequest request(Fabric fabric, InetSocketAddress remote, ConnectionConfig config)
            throws RpmaException {
        ConnectionRequest atOnce =
            fabric.peer().mayRequestAtOnce() ? fabric.peer().tryNewConnectionRequest(remote, config) : null;
        return atOnce != null ? atOnce : fabric.peer().newConnectionRequest(remote, config);
    }

    /**
     * A request that can be sent.
     *
     * @param fabric the fabric
     * @param dialer connects with the request
     * @param request the request, which is consumed by {@link #connect} or {@link #drop}
     * @param connecting the connection, if it has been requested already, or {@code null}
     */
    record Prepared(Fabric fabric, Dialer dialer, ConnectionRequest request, QueuePair connecting) {
        private static final InliningBarrier DIAL = new InliningBarrier(MethodHandles.lookup(), Dialer.class, "connect",
            MethodType.methodType(QueuePair.class, Fabric.class, ConnectionRequest.class, InetSocketAddress.class));

        QueuePair connect(InetSocketAddress remote) throws RpmaException {
            return connecting != null ? connecting : dial(remote);
        }

        private QueuePair dial(InetSocketAddress remote) throws RpmaException {
            try {
                return (QueuePair) DIAL.method().invokeExact(dialer, fabric, request, remote);
            } catch (Throwable e) {
                PlatformDependent.throwException(e);
                return null;
            }
        }

        /** Releases what was prepared. */
        void drop() throws RpmaException {
            if (connecting != null) {
                abandon(connecting);
                return;
            }
            try {
                request.close();
            } finally {
                dialer.dropped();
            }
        }
    }
}
