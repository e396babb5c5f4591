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
package io.rpma.soft;

import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.host.SoftLog;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The common part of outgoing and incoming connection requests. */
abstract class SoftConnectionRequest implements ConnectionRequest {
    private final SoftPeer peer;
    private final InetSocketAddress remoteAddress;
    private boolean used;

    SoftConnectionRequest(SoftPeer peer, InetSocketAddress remoteAddress) {
        this.peer = peer;
        this.remoteAddress = remoteAddress;
    }

    SoftPeer peer() {
        return peer;
    }

    /** Returns the queues, {@code null} if they have not been created yet. */
    abstract Queues queues();

    /** Posts a receive that is known to have a region. */
    abstract void post(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException;

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkUnused();
        if (target == null) {
            throw SoftLog.failure(RpmaError.INVALID,
                "receive: a receive posted before the connection exists needs a memory region");
        }
        post(SoftLocalMemoryRegion.of(target), offset, length, context);
    }

    @Override
    public Connection connect(ByteBuffer data) throws RpmaException {
        checkUnused();
        used = true;
        boolean done = false;
        try {
            int length = data == null ? 0 : data.remaining();
            if (data != null && length == 0) {
                throw SoftLog.failure(RpmaError.INVALID, "connect: the private data is empty; pass null to send none");
            }
            if (length > maxPrivateData()) {
                throw SoftLog.failure(RpmaError.PROVIDER, Posix.EINVAL, "connect: " + length
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
            ended();
            if (!done) {
                release();
            }
        }
    }

    /** Called when the request can no longer be used. */
    void ended() {
        // There is nothing to release.
    }

    /** Returns the largest number of bytes of private data that can be sent to the other side. */
    abstract int maxPrivateData();

    /** Sends the request, or accepts it. If it fails, the caller releases the resources. */
    abstract Connection open(byte[] data) throws RpmaException;

    /** Rejects the request if it is an incoming one, and closes the socket. */
    abstract void drop();

    @Override
    public void close() throws RpmaException {
        if (!used) {
            used = true;
            ended();
            release();
        }
    }

    private void release() throws RpmaException {
        drop();
        try {
            if (queues() != null) {
                queues().close();
            }
        } finally {
            peer.removeChild();
        }
    }

    private void checkUnused() throws RpmaException {
        if (used) {
            throw SoftLog.failure(RpmaError.INVALID, "the connection request has already been connected or closed");
        }
    }

    /** Rejects a client with a text. */
    static void reject(int fd, String reason) {
        ControlMessage message = ControlMessage.of(ControlMessage.REJECT);
        byte[] words = reason.getBytes(StandardCharsets.UTF_8);
        message.body().put(words, 0, Math.min(words.length, message.body().remaining()));
        message.send(fd);
    }
}
