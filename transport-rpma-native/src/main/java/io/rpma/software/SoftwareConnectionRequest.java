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
package io.rpma.software;

import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The parts of a connection request that do not depend on how it is sent. The rules for threads are those of
 * {@link ConnectionRequest}.
 */
public abstract class SoftwareConnectionRequest implements ConnectionRequest {
    private final SoftwareLog log;
    private final InetSocketAddress remoteAddress;
    private boolean used;

    /**
     * Creates a request.
     *
     * @param log the log of the provider
     * @param remoteAddress the address of the other side
     */
    protected SoftwareConnectionRequest(SoftwareLog log, InetSocketAddress remoteAddress) {
        this.log = log;
        this.remoteAddress = remoteAddress;
    }

    /** Returns the largest number of bytes of private data that can be sent to the other side. */
    protected abstract int maxPrivateData();

    /**
     * Sends the request, or accepts it. If it fails, the caller releases the resources.
     *
     * @param data the private data for the other side, padded with zeros to {@link #maxPrivateData()}
     */
    protected abstract Connection open(byte[] data) throws RpmaException;

    /** Called when the request can no longer be used. */
    protected void ended() {
        // There is nothing to release.
    }

    /** Releases the resources of a request that has not become a connection. */
    protected abstract void release() throws RpmaException;

    /**
     * Checks that a receive can be posted.
     *
     * @param target its region
     * @throws RpmaException {@link RpmaError#INVALID} if the request has been used, or if there is no region
     */
    protected final void checkReceive(LocalMemoryRegion target) throws RpmaException {
        checkUnused();
        if (target == null) {
            throw log.failure(RpmaError.INVALID,
                "receive: a receive posted before the connection exists needs a memory region");
        }
    }

    private void checkUnused() throws RpmaException {
        if (used) {
            throw log.failure(RpmaError.INVALID, "the connection request has already been connected or closed");
        }
    }

    @Override
    public final InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public final Connection connect(ByteBuffer data) throws RpmaException {
        checkUnused();
        used = true;
        boolean done = false;
        try {
            Connection connection = open(padded(data));
            done = true;
            return connection;
        } finally {
            ended();
            if (!done) {
                release();
            }
        }
    }

    private byte[] padded(ByteBuffer data) throws RpmaException {
        int length = data == null ? 0 : data.remaining();
        if (data != null && length == 0) {
            throw log.failure(RpmaError.INVALID, "connect: the private data is empty; pass null to send none");
        }
        if (length > maxPrivateData()) {
            throw log.failure(RpmaError.PROVIDER, Posix.EINVAL, "connect: " + length
                + " bytes of private data; at most " + maxPrivateData() + " fit", null);
        }
        byte[] padded = new byte[maxPrivateData()];
        if (data != null) {
            data.duplicate().get(padded, 0, length);
        }
        return padded;
    }

    @Override
    public final void close() throws RpmaException {
        if (!used) {
            used = true;
            ended();
            release();
        }
    }
}
