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
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteEnd;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** The request of a client. */
final class IncomingRequest extends SoftConnectionRequest {
    private final Queues queues;
    private final ControlSocket control;
    private final RemoteEnd remote;
    private final InetSocketAddress localAddress;
    private final ByteBuffer privateData;

    /**
     * Creates the request, which takes ownership of the socket and of the view of the client's end.
     *
     * @param localAddress the address to which the client connected
     */
    IncomingRequest(ProtectionDomain domain, Queues queues, ControlSocket control, RemoteEnd remote,
            InetSocketAddress localAddress, InetSocketAddress remoteAddress, byte[] privateData) {
        super(domain, remoteAddress);
        this.queues = queues;
        this.control = control;
        this.remote = remote;
        this.localAddress = localAddress;
        this.privateData = ByteBuffer.wrap(privateData).asReadOnlyBuffer();
    }

    @Override
    public ByteBuffer privateData() {
        return privateData.duplicate();
    }

    @Override
    Queues queues() {
        return queues;
    }

    @Override
    void post(SoftLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        queues.queuePair().responder().post(target, offset, length, context);
    }

    @Override
    protected int maxPrivateData() {
        return MAX_ACCEPT_PRIVATE_DATA;
    }

    @Override
    protected Connection open(byte[] data) throws RpmaException {
        QueuePair queuePair = queues.queuePair();
        SoftConnection connection =
            new SoftConnection(domain(), queues, control, false, privateData, localAddress, remoteAddress());
        queuePair.control(control);
        queuePair.connect(remote);
        queuePair.ready();
        ControlMessage message = ControlMessage.of(ControlMessage.ACCEPT);
        boolean lent = queues.describe(message);
        int result;
        try {
            message.body().put(data);
            result = domain().ranges().publish(control, message);
        } finally {
            if (lent) {
                queues.described();
            }
        }
        if (result < 0) {
            domain().ranges().removeControl(control);
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "connect: the client at " + remoteAddress() + " is gone ("
                + Posix.strerror(-result) + ")", null);
        }
        queuePair.lendFromNow();
        return connection;
    }

    @Override
    void drop() {
        if (queues.queuePair().remote() == null) {
            // The view has not been passed to the queue pair, which would release it.
            remote.release();
            control.send(rejection());
        }
        control.close();
    }

    private static ControlMessage rejection() {
        ControlMessage message = ControlMessage.of(ControlMessage.REJECT);
        message.body().put("the request was rejected by the application".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return message;
    }
}
