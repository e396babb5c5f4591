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
import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteProcess;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A request to a listener. Its queues are created when it is sent, because only then is the process known with which they are
 * shared. Receives that are posted earlier are kept in this object until then.
 */
final class OutgoingRequest extends SoftConnectionRequest {
    private final Rendezvous rendezvous;
    private final QueueSizes sizes;
    private final Rendezvous.Route route;
    private final Queue<Receive> receives = new ArrayDeque<>();
    private Queues queues;
    private ControlSocket control;
    private boolean holdsQueue;

    private record Receive(SoftLocalMemoryRegion target, long offset, long length, long context) {
    }

    OutgoingRequest(ProtectionDomain domain, Rendezvous rendezvous, QueueSizes sizes, Rendezvous.Route route)
            throws RpmaException {
        super(domain, route.remote());
        this.rendezvous = rendezvous;
        this.sizes = sizes;
        this.route = route;
        domain.addChild();
        boolean done = false;
        try {
            if (sizes.sharedReceiveQueue() != null) {
                sizes.sharedReceiveQueue().hold();
                holdsQueue = true;
            }
            done = true;
        } finally {
            if (!done) {
                domain.removeChild();
            }
        }
    }

    @Override
    public ByteBuffer privateData() throws RpmaException {
        throw SoftLog.failure(RpmaError.INVALID, "an outgoing request has no private data of the peer; read it from the"
            + " connection once that is established");
    }

    @Override
    Queues queues() {
        return queues;
    }

    @Override
    void post(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        Receives.check(target, offset, length);
        if (holdsQueue) {
            throw Receives.shared();
        }
        if (receives.size() >= sizes.receives()) {
            throw Receives.full(sizes.receives());
        }
        receives.add(new Receive(target, offset, length, context));
    }

    @Override
    protected int maxPrivateData() {
        return MAX_CONNECT_PRIVATE_DATA;
    }

    @Override
    protected Connection open(byte[] data) throws RpmaException {
        Rendezvous.Dialled dialled = rendezvous.dial(route);
        if (dialled.fd() < 0) {
            createQueues(domain().process().remotes().self());
            return new SoftConnection(domain(), queues, dialled.fd() == -Posix.EAGAIN
                ? ConnectionEvent.UNREACHABLE : ConnectionEvent.REJECTED, dialled.local(), remoteAddress());
        }
        RemoteProcess remote;
        try {
            remote = domain().process().remotes().connecting(dialled.peerPid(), dialled.token(), dialled.name());
        } catch (RpmaException e) {
            Posix.close(dialled.fd());
            throw e;
        }
        control = new ControlSocket(remote, dialled.fd(), dialled.peerPid());
        try {
            createQueues(remote);
        } finally {
            // The half is a user of its own.
            remote.release();
        }
        SoftConnection connection =
            new SoftConnection(domain(), queues, control, true, null, dialled.local(), remoteAddress());
        queues.queuePair().control(control);
        request(dialled.local(), data);
        // If the listener has closed meanwhile, the connection reports the event REJECTED.
        return connection;
    }

    /**
     * Sends the connection request to the listener. It is no error if the listener has closed meanwhile.
     *
     * @param local the address of this side
     */
    private void request(InetSocketAddress local, byte[] data) throws RpmaException {
        ControlMessage message = ControlMessage.of(ControlMessage.CONNECT);
        boolean lent = queues.describe(message);
        int result;
        try {
            write(message.body(), route.remote());
            write(message.body(), local);
            message.body().put(data);
            result = domain().ranges().publish(control, message);
        } finally {
            if (lent) {
                queues.described();
            }
        }
        if (result < 0 && result != -Sockets.EPIPE && result != -Sockets.ECONNRESET) {
            domain().ranges().removeControl(control);
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "connect: the request cannot be sent: "
                + Posix.strerror(-result), null);
        }
    }

    private void createQueues(RemoteProcess remote) throws RpmaException {
        queues = Queues.create(domain(), sizes, remote);
        for (Receive receive : receives) {
            queues.queuePair().responder().post(receive.target(), receive.offset(), receive.length(), receive.context());
        }
        receives.clear();
    }

    private static void write(ByteBuffer target, InetSocketAddress address) {
        target.put(Sockets.toBytes(address.getAddress())).putInt(address.getPort());
    }

    @Override
    protected void ended() {
        if (holdsQueue) {
            holdsQueue = false;
            sizes.sharedReceiveQueue().countDown();
        }
    }

    @Override
    void drop() {
        if (control != null) {
            control.close();
        }
    }
}
