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
import io.rpma.PeerConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The properties of a connection that do not depend on how data is transferred. The rules for threads are those of
 * {@link Connection}.
 */
public abstract class SoftwareConnection implements Connection {
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final SoftwareLog log;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;
    private ByteBuffer privateData;
    private boolean directWrite;
    private boolean closed;
    private boolean receivesNext;

    /**
     * Creates a connection.
     *
     * @param log the log of the provider
     * @param privateData the private data of the other side, read-only; {@code null} while there is none
     * @param localAddress the address of this side, {@code null} if there is none
     * @param remoteAddress the address of the other side
     */
    protected SoftwareConnection(SoftwareLog log, ByteBuffer privateData, InetSocketAddress localAddress,
            InetSocketAddress remoteAddress) {
        this.log = log;
        this.privateData = privateData == null ? NO_DATA : privateData;
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
    }

    /** Stores the private data that the other side has accepted with. The array must not change any more. */
    protected final void acceptedWith(byte[] data) {
        privateData = ByteBuffer.wrap(data).asReadOnlyBuffer();
    }

    /**
     * Selects the completion queue whose event is consumed next. The two alternate if both have fired, so that one that fires all
     * the time does not starve the other.
     *
     * @param mainFired whether the main queue has fired
     * @param receivesFired whether there is a queue for receives, and it has fired
     * @return whether it is the queue for receives
     */
    protected final boolean isEventOfReceivesNext(boolean mainFired, boolean receivesFired) {
        boolean receives = receivesFired && (receivesNext || !mainFired);
        receivesNext = !receives;
        return receives;
    }

    /** Returns whether the other side has said that writes may go straight to persistent memory. */
    protected final boolean isDirectWrite() {
        return directWrite;
    }

    /** Returns whether the connection has been closed. */
    protected final boolean isClosed() {
        return closed;
    }

    /** Marks the connection as closed. Returns {@code false} if it was closed before. */
    protected final boolean markClosed() {
        boolean first = !closed;
        closed = true;
        return first;
    }

    /**
     * Checks that the connection has not been closed.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if it has been
     */
    protected final void checkOpen() throws RpmaException {
        if (closed) {
            throw log.failure(RpmaError.INVALID, "the connection is closed");
        }
    }

    /**
     * Checks that the connection is open and that its completion queues share a descriptor.
     *
     * @param shared whether they do
     * @throws RpmaException {@link RpmaError#NOT_SHARED_CHANNEL} if they do not
     */
    protected final void checkShared(boolean shared) throws RpmaException {
        checkOpen();
        if (!shared) {
            throw log.failure(RpmaError.NOT_SHARED_CHANNEL, "each completion queue of this connection has a descriptor of"
                + " its own: wait for CompletionQueue.fd(), or set ConnectionConfig.sharedCompletionChannel before the connection"
                + " is made");
        }
    }

    @Override
    public final ByteBuffer privateData() throws RpmaException {
        checkOpen();
        return privateData.duplicate();
    }

    @Override
    public final InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public final InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public final void applyRemotePeerConfig(PeerConfig config) throws RpmaException {
        checkOpen();
        if (config == null) {
            throw log.failure(RpmaError.INVALID, "applyRemotePeerConfig: the configuration is null");
        }
        directWrite = config.isDirectWriteToPmem();
    }
}
