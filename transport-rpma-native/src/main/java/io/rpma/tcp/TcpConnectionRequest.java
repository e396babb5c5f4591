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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A connection request: its queues are there, and nothing is agreed yet. */
abstract class TcpConnectionRequest implements ConnectionRequest {
    private final TcpPeer peer;
    private final Queues queues;
    private final InetSocketAddress remoteAddress;
    private boolean used;

    TcpConnectionRequest(TcpPeer peer, Queues queues, InetSocketAddress remoteAddress) {
        this.peer = peer;
        this.queues = queues;
        this.remoteAddress = remoteAddress;
        peer.addChild();
    }

    TcpPeer peer() {
        return peer;
    }

    Queues queues() {
        return queues;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkUnused();
        if (target == null) {
            throw TcpLog.failure(RpmaError.INVALID,
                "receive: a receive posted before the connection exists needs a memory region");
        }
        queues.pair().receive(TcpLocalMemoryRegion.of(target), offset, length, context);
    }

    @Override
    public Connection connect(ByteBuffer data) throws RpmaException {
        checkUnused();
        used = true;
        boolean done = false;
        try {
            int length = data == null ? 0 : data.remaining();
            if (data != null && length == 0) {
                throw TcpLog.failure(RpmaError.INVALID, "connect: the private data is empty; pass null to send none");
            }
            if (length > maxPrivateData()) {
                throw TcpLog.failure(RpmaError.PROVIDER, Posix.EINVAL, "connect: " + length
                    + " bytes of private data; at most " + maxPrivateData() + " fit", null);
            }
            byte[] padded = new byte[maxPrivateData()];
            if (data != null) {
                data.duplicate().get(padded, 0, length);
            }
            Connection connection = open(padded);
            done = true;
            return connection;
        } finally {
            if (!done) {
                release();
            }
        }
    }

    /** Returns how many bytes of private data the other side can be sent. */
    abstract int maxPrivateData();

    /** Sends the request, or accepts it. What fails here is released by the caller. */
    abstract Connection open(byte[] data) throws RpmaException;

    /** Tells the other side, if that is the custom, and closes the socket. */
    abstract void drop();

    @Override
    public void close() {
        if (!used) {
            used = true;
            release();
        }
    }

    private void release() {
        drop();
        queues.close();
        peer.removeChild();
    }

    private void checkUnused() throws RpmaException {
        if (used) {
            throw TcpLog.failure(RpmaError.INVALID, "the connection request has already been connected or closed");
        }
    }
}
