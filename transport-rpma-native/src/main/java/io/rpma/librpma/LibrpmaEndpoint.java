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
package io.rpma.librpma;

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_ep}. */
final class LibrpmaEndpoint extends LibrpmaHandle implements Endpoint {
    private static final int NO_EVENT = RpmaError.NO_EVENT.code();
    /** The descriptors of a connection: an event channel, and a completion channel for each of at most two completion queues. */
    private static final int DESCRIPTORS = 3;

    private final LibrpmaProtectionDomain peer;
    private final int fd;
    private final InetSocketAddress localAddress;
    // Requests that were taken and not connected: they use the endpoint's event channel until then, and are closed before it.
    private final Set<LibrpmaConnectionRequest> taken = ConcurrentHashMap.newKeySet();

    private LibrpmaEndpoint(long handle, LibrpmaProtectionDomain peer, InetSocketAddress asked) throws RpmaException {
        super("endpoint", handle);
        this.peer = peer;
        fd = LibrpmaDescriptor.nonBlocking(Librpma.EP_GET_FD, "rpma_ep_get_fd", handle);
        InetSocketAddress bound = LibrpmaAddresses.local(handle, LibrpmaAddresses.ENDPOINT_ID, peer.context());
        localAddress = bound == null ? asked : bound;
    }

    /** Starts to listen. */
    static LibrpmaEndpoint listen(LibrpmaProtectionDomain peer, InetSocketAddress local) throws RpmaException {
        if (local == null || local.isUnresolved()) {
            throw LibrpmaFailure.invalid("rpma_ep_listen: the address is " + (local == null ? "null" : "not resolved: " + local));
        }
        InetAddress address = local.getAddress();
        if (address.isAnyLocalAddress() || address.isLoopbackAddress()) {
            throw LibrpmaFailure.invalid("rpma_ep_listen: " + address.getHostAddress() + " is not an address of the device "
                + peer.device().name() + "; connections arrive on the device that has the address: listen on one of "
                + hosts(peer.device().addresses()) + " (RpmaProvider.reachable finds one)");
        }
        long peerPointer = peer.retain();
        long handle = 0;
        try {
            handle = listen(peerPointer, local);
            long context = LibrpmaAddresses.context(handle, LibrpmaAddresses.ENDPOINT_ID);
            if (context != 0 && context != peer.context()) {
                throw LibrpmaFailure.invalid("rpma_ep_listen: " + address.getHostAddress() + " is an address of a device other"
                    + " than the peer's, " + peer.device().name() + "; its connections could not use the peer: listen on one of "
                    + hosts(peer.device().addresses()) + ", or create a peer on the device that has the address");
            }
            return new LibrpmaEndpoint(handle, peer, local);
        } catch (Throwable e) {
            if (handle != 0) {
                delete(Librpma.EP_SHUTDOWN, handle);
            }
            peer.release();
            throw e;
        }
    }

    private static long listen(long peer, InetSocketAddress local) throws RpmaException {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            String host = LibrpmaAddresses.text(local.getAddress());
            int code = Librpma.epListen(capture, peer, arena.allocateFrom(host),
                arena.allocateFrom(Integer.toString(local.getPort())), pointer);
            if (code != 0) {
                int errno = LibrpmaFailure.errno(code, capture);
                String where = host + " port " + local.getPort();
                throw LibrpmaFailure.of("rpma_ep_listen", code, errno, switch (errno) {
                    case Posix.EADDRINUSE -> where + ": another endpoint already listens there; use another port, or 0 for any"
                        + " free port";
                    case Posix.EADDRNOTAVAIL, Posix.ENODEV -> where + ": no RDMA device of this host has the address";
                    case Posix.EACCES -> where + ": a port below 1024 requires the capability CAP_NET_BIND_SERVICE";
                    default -> where;
                });
            }
            return pointer.get(JAVA_LONG, 0);
        }
    }

    private static String hosts(List<InetAddress> addresses) {
        return addresses.stream().map(InetAddress::getHostAddress).toList().toString();
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public ConnectionRequest nextConnectionRequest(ConnectionConfig config) throws RpmaException {
        LibrpmaConnectionConfig own = LibrpmaConnectionConfig.of(config, "rpma_ep_next_conn_req");
        long pointer = handle();
        if (own == null) {
            return next(pointer, null, 0, null);
        }
        Lock lock = own.readLock();
        lock.lock();
        try {
            return next(pointer, own, own.handle(), own.retainQueue());
        } finally {
            lock.unlock();
        }
    }

    // Takes over the caller's use of the queue.
    private LibrpmaConnectionRequest next(long endpoint, LibrpmaConnectionConfig own, long config,
            LibrpmaSharedReceiveQueue queue) throws RpmaException {
        LibrpmaConnectionRequest request = null;
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            if (!LibrpmaDescriptor.isReadable(fd)) {
                // Without a request no descriptors are needed. A log message of librpma would overwrite the errno EAGAIN.
                return null;
            }
            LibrpmaOpenFiles.require("rpma_ep_next_conn_req", fd, DESCRIPTORS);
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.epNextConnReq(capture, endpoint, config, pointer);
            if (code == 0) {
                request = LibrpmaConnectionRequest.incoming(pointer.get(JAVA_LONG, 0), this, peer, queue);
                taken.add(request);
                return request;
            }
            int errno = LibrpmaFailure.errno(code, capture);
            if (code == NO_EVENT || errno == Posix.EAGAIN) {
                return null;
            }
            if (code == RpmaError.INVALID.code() && own != null && own.isChannelContradictory()) {
                throw LibrpmaFailure.of("rpma_ep_next_conn_req", code, 0, "only this request is lost, the endpoint continues to"
                    + " listen; sharedCompletionChannel: receives complete in the shared receive queue's own completion queue,"
                    + " which has a descriptor of its own; create that queue with a receiveCompletionQueueSize of 0, or do not"
                    + " share the channel");
            }
            throw LibrpmaFailure.of("rpma_ep_next_conn_req", code, errno, "only this request is lost, the endpoint continues to"
                + " listen; its client is gone, or the configured queues cannot be created (Device.limits() returns the limits)");
        } finally {
            if (request == null && queue != null) {
                queue.release();
            }
        }
    }

    /** Removes a request that was connected or dropped. */
    void forget(LibrpmaConnectionRequest request) {
        taken.remove(request);
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer == 0) {
            return;
        }
        // No thread takes a request after this: one that was waiting has stopped.
        DescriptorWait.closing(fd);
        RpmaException failure = null;
        for (LibrpmaConnectionRequest request : List.copyOf(taken)) {
            try {
                request.close();
            } catch (RpmaException e) {
                failure = e;
            }
        }
        try {
            delete(Librpma.EP_SHUTDOWN, "rpma_ep_shutdown", pointer);
        } catch (RpmaException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            failure = e;
        } finally {
            peer.release();
        }
        if (failure != null) {
            throw failure;
        }
    }
}
