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

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Lock;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_conn_req}. Its uses of the peer and of the shared receive queue pass to the connection. */
final class LibrpmaConnectionRequest extends LibrpmaHandle implements ConnectionRequest {
    private final LibrpmaProtectionDomain peer;
    private final LibrpmaSharedReceiveQueue queue;
    // null on an outgoing request
    private final LibrpmaEndpoint endpoint;
    private final InetSocketAddress remoteAddress;

    private LibrpmaConnectionRequest(long handle, LibrpmaProtectionDomain peer, LibrpmaSharedReceiveQueue queue,
            LibrpmaEndpoint endpoint, InetSocketAddress remoteAddress) {
        super("connection request", handle);
        this.peer = peer;
        this.queue = queue;
        this.endpoint = endpoint;
        this.remoteAddress = remoteAddress;
    }

    /**
     * Wraps an incoming request; if that fails, the request is rejected.
     *
     * @param queue the shared receive queue, retained by the caller, or {@code null}; the request takes over that use on success
     */
    static LibrpmaConnectionRequest incoming(long handle, LibrpmaEndpoint endpoint, LibrpmaProtectionDomain peer,
            LibrpmaSharedReceiveQueue queue) throws RpmaException {
        boolean retained = false;
        try {
            peer.retain();
            retained = true;
            return new LibrpmaConnectionRequest(handle, peer, queue, endpoint,
                LibrpmaAddresses.remote(handle, LibrpmaAddresses.REQUEST_ID, peer.context()));
        } catch (Throwable e) {
            delete(Librpma.CONN_REQ_DELETE, handle);
            if (retained) {
                peer.release();
            }
            throw e;
        }
    }

    /** Resolves an address and creates a request to it. Blocks. */
    static LibrpmaConnectionRequest outgoing(LibrpmaProtectionDomain peer, InetSocketAddress remote, ConnectionConfig config)
            throws RpmaException {
        if (remote == null || remote.isUnresolved()) {
            throw LibrpmaFailure.invalid("rpma_conn_req_new: the address is " + (remote == null ? "null"
                : "not resolved: " + remote));
        }
        LibrpmaConnectionConfig own = LibrpmaConnectionConfig.of(config, "rpma_conn_req_new");
        long peerPointer = peer.retain();
        LibrpmaConnectionRequest request = null;
        LibrpmaSharedReceiveQueue queue = null;
        try {
            if (own == null) {
                request = new LibrpmaConnectionRequest(connReqNew(peerPointer, remote, 0), peer, null, null, remote);
            } else {
                Lock lock = own.readLock();
                lock.lock();
                try {
                    if (own.isChannelContradictory()) {
                        throw LibrpmaFailure.invalid("rpma_conn_req_new: sharedCompletionChannel: receives complete in the shared"
                            + " receive queue's own completion queue, which has a descriptor of its own; create that queue with"
                            + " a receiveCompletionQueueSize of 0, or do not share the channel");
                    }
                    queue = own.retainQueue();
                    request = new LibrpmaConnectionRequest(connReqNew(peerPointer, remote, own.handle()), peer, queue, null,
                        remote);
                } finally {
                    lock.unlock();
                }
            }
            return request;
        } finally {
            if (request == null) {
                if (queue != null) {
                    queue.release();
                }
                peer.release();
            }
        }
    }

    private static long connReqNew(long peer, InetSocketAddress remote, long config) throws RpmaException {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            String host = LibrpmaAddresses.text(remote.getAddress());
            int code = Librpma.connReqNew(capture, peer, arena.allocateFrom(host),
                arena.allocateFrom(Integer.toString(remote.getPort())), config, pointer);
            if (code != 0) {
                int errno = LibrpmaFailure.errno(code, capture);
                String where = host + " port " + remote.getPort();
                throw LibrpmaFailure.of("rpma_conn_req_new", code, errno, switch (errno) {
                    case Posix.ETIMEDOUT -> where + ": the host did not answer within the configured timeout";
                    case Posix.ENETUNREACH, Posix.ENODEV -> where + ": no RDMA device of this host has a route to it";
                    default -> code != RpmaError.PROVIDER.code() ? where : where + ": the address cannot be resolved, or the"
                        + " configured queues cannot be created (Device.limits() returns the limits)";
                });
            }
            return pointer.get(JAVA_LONG, 0);
        }
    }

    @Override
    public ByteBuffer privateData() throws RpmaException {
        if (endpoint == null) {
            throw LibrpmaFailure.invalid("rpma_conn_req_get_private_data: only an incoming request has private data");
        }
        return LibrpmaBytes.privateData(Librpma.CONN_REQ_GET_PRIVATE_DATA, "rpma_conn_req_get_private_data", handle());
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        if (offset < 0) {
            throw LibrpmaFailure.range("rpma_conn_req_recv", "the offset", offset);
        }
        if (length < 0 || length > LibrpmaFailure.MAX_LENGTH) {
            throw LibrpmaFailure.range("rpma_conn_req_recv", "the length", length);
        }
        long pointer = handle();
        // Do not pass this to the device: see LibrpmaConnection.receive().
        int code = queue != null ? RpmaError.PROVIDER.code()
            : Librpma.connReqRecv(pointer, LibrpmaLocalMemoryRegion.pointer(target), offset, length, context);
        if (code != 0) {
            throw LibrpmaFailure.of("rpma_conn_req_recv", code, 0, target == null ? "the region is null"
                : length + " bytes at offset " + offset + "; the receive queue is full, or the connection uses a shared receive"
                    + " queue");
        }
    }

    @Override
    public Connection connect(ByteBuffer privateData) throws RpmaException {
        int limit = endpoint == null ? MAX_CONNECT_PRIVATE_DATA : MAX_ACCEPT_PRIVATE_DATA;
        if (privateData != null && privateData.remaining() > limit) {
            RpmaException failure = new RpmaException(RpmaError.PROVIDER, "rpma_conn_req_connect: the private data has "
                + privateData.remaining() + " bytes; " + (endpoint == null ? "a request" : "an acceptance") + " carries at most "
                + limit);
            try {
                close();
            } catch (RpmaException e) {
                failure.addSuppressed(e);
            }
            throw failure;
        }
        long request = take();
        if (request == 0) {
            throw LibrpmaFailure.invalid("rpma_conn_req_connect: the connection request was connected or closed before");
        }
        if (endpoint != null) {
            endpoint.forget(this);
        }
        LibrpmaConnection connection = null;
        try {
            connection = LibrpmaConnection.open(connect(request, privateData), peer, queue, endpoint != null,
                remoteAddress);
            return connection;
        } finally {
            if (connection == null) {
                releaseAll();
            }
        }
    }

    // The library frees the request, whether this succeeds or not.
    private static long connect(long request, ByteBuffer privateData) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.connReqConnect(arena.allocateFrom(JAVA_LONG, request),
                LibrpmaBytes.privateData(privateData, arena), pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_conn_req_connect", code, 0, code == RpmaError.INVALID.code()
                    ? "the private data is empty; pass null to send none" : "the peer is gone, or the device rejected the"
                        + " operation");
            }
            return pointer.get(JAVA_LONG, 0);
        }
    }

    private void releaseAll() {
        if (queue != null) {
            queue.release();
        }
        peer.release();
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer == 0) {
            return;
        }
        if (endpoint != null) {
            endpoint.forget(this);
        }
        try {
            delete(Librpma.CONN_REQ_DELETE, "rpma_conn_req_delete", pointer);
        } finally {
            releaseAll();
        }
    }
}
