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

import io.rpma.Device;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** The parts of a protection domain that do not depend on how its memory regions are accessed. Thread-safe. */
public abstract class SoftwarePeer implements Peer {
    private static final int EBUSY = 16;
    private static final int CLOSED = -1;

    private final SoftwareLog log;
    private final Device device;
    // The number of open objects, CLOSED when the peer has been closed: it is closed only if there are none, and then gets none.
    private final AtomicInteger children = new AtomicInteger();

    /**
     * Creates a peer.
     *
     * @param log the log of the provider
     */
    protected SoftwarePeer(SoftwareLog log, Device device) {
        this.log = log;
        this.device = device;
    }

    @Override
    public final Device device() {
        return device;
    }

    /**
     * Counts an object of this peer that has to be closed before the peer. Called before the object is created, because another
     * thread may be closing the peer.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if the peer has been closed
     */
    public final void addChild() throws RpmaException {
        if (children.getAndUpdate(count -> count == CLOSED ? CLOSED : count + 1) == CLOSED) {
            throw closed();
        }
    }

    /** Counts an object of this peer as closed, or as not created. */
    public final void removeChild() {
        children.decrementAndGet();
    }

    /**
     * Checks that the peer has not been closed. Another thread may close it afterwards, before {@link #addChild}.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if it has been
     */
    protected final void checkOpen() throws RpmaException {
        if (children.get() == CLOSED) {
            throw closed();
        }
    }

    private RpmaException closed() {
        return log.failure(RpmaError.INVALID, "the peer is closed");
    }

    /**
     * Checks that the peer has not been closed, and that an address to listen at is resolved.
     *
     * @throws RpmaException {@link RpmaError#INVALID}
     */
    protected final void checkLocal(InetSocketAddress local) throws RpmaException {
        checkOpen();
        checkResolved("listen", local);
    }

    /**
     * Checks that the peer has not been closed, and that an address to connect to is resolved and has a port.
     *
     * @param what the method of the caller
     * @throws RpmaException {@link RpmaError#INVALID}
     */
    protected final void checkRemote(String what, InetSocketAddress remote) throws RpmaException {
        checkOpen();
        checkResolved(what, remote);
        if (remote.getPort() == 0) {
            throw log.failure(RpmaError.INVALID, what + ": the port of " + remote + " must not be 0");
        }
    }

    private void checkResolved(String what, InetSocketAddress address) throws RpmaException {
        if (address == null || address.isUnresolved()) {
            throw log.failure(RpmaError.INVALID, what + ": the address " + address + " is not resolved");
        }
    }

    @Override
    public final synchronized void close() throws RpmaException {
        int open = children.compareAndExchange(0, CLOSED);
        if (open == CLOSED) {
            return;
        }
        if (open > 0) {
            throw log.failure(RpmaError.PROVIDER, EBUSY, open + " endpoints, requests, connections, shared receive queues or"
                + " memory regions of this peer are still open: close them first", null);
        }
        ended();
    }

    /** Called once, when the peer has been closed. */
    protected void ended() {
        // There is nothing to release.
    }
}
