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

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Sockets;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Two connected ends in this process. All messages are empty, so that they need no memory region. The connection stays open, and
 * each state brings it into the situation of its case. The methods of this class do that, and poll what the previous state has
 * left.
 */
class Pair {
    static final RpmaProvider PROVIDER = SoftProvider.instance();
    static final SoftPeer PEER = peer();

    private static final int QUEUE = 16;
    private static final int DEADLINE_MILLIS = 20_000;
    private static final Endpoint ENDPOINT = listen();

    final QueuePair client;
    final QueuePair server;
    final ConnectionCompletionQueue clientQueue;
    final ConnectionCompletionQueue serverQueue;
    final WorkCompletions batch = new WorkCompletions(QUEUE);

    /** Connects two ends, of which the server has a receive queue of its own. */
    Pair() throws RpmaException {
        this(null, QUEUE);
    }

    /**
     * Connects two ends.
     *
     * @param shared the receive queue of the server, or {@code null} if it has its own
     * @param slots the number of slots of the queues
     */
    Pair(SoftSharedReceiveQueue shared, int slots) throws RpmaException {
        ConnectionRequest request = PEER.newConnectionRequest(ENDPOINT.localAddress(), config(slots));
        Connection first = request.connect(null);
        ConnectionConfig config = config(slots);
        if (shared != null) {
            config.sharedReceiveQueue(shared);
        }
        ConnectionRequest incoming = ENDPOINT.nextConnectionRequest(config);
        while (incoming == null) {
            awaitReadable(ENDPOINT.fd());
            incoming = ENDPOINT.nextConnectionRequest(config);
        }
        Connection second = incoming.connect(null);
        establish(first);
        establish(second);
        client = ((SoftConnection) first).queuePair();
        server = ((SoftConnection) second).queuePair();
        clientQueue = (ConnectionCompletionQueue) first.completionQueue();
        serverQueue = (ConnectionCompletionQueue) second.completionQueue();
    }

    private static SoftPeer peer() {
        try {
            return (SoftPeer) PROVIDER.devices().getFirst().newPeer();
        } catch (RpmaException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static Endpoint listen() {
        try {
            return PEER.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        } catch (RpmaException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static ConnectionConfig config(int slots) throws RpmaException {
        return PROVIDER.newConnectionConfig().sendQueueSize(slots).receiveQueueSize(slots).completionQueueSize(4 * slots);
    }

    private static void establish(Connection connection) throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            awaitReadable(connection.eventFd());
            event = connection.nextEvent();
        }
        if (event != ConnectionEvent.ESTABLISHED) {
            throw new AssertionError("the connection is not established: " + event);
        }
    }

    private static void awaitReadable(int fd) {
        if (Sockets.poll(fd, (short) Sockets.EPOLLIN, DEADLINE_MILLIS) <= 0) {
            throw new AssertionError("nothing happened within " + DEADLINE_MILLIS + " ms");
        }
    }

    /** Returns the error for an exception that no case expects. */
    static AssertionError unexpected(RpmaException e) {
        return new AssertionError(e);
    }

    /** The client posts an empty send. */
    final void send() {
        post(Operation.SEND, CompletionFlag.ALWAYS);
    }

    /**
     * The client posts an empty send that completes at the server only, so that less time passes between the completion and the
     * doorbell. Its slot is free again when the completion of a later work request has been polled.
     */
    final void sendSilently() {
        post(Operation.SEND, CompletionFlag.ON_ERROR);
    }

    /** The client posts a write of no bytes, of which the peer is not notified. */
    final void write() {
        post(Operation.WRITE, CompletionFlag.ALWAYS);
    }

    private void post(int operation, CompletionFlag flag) {
        try {
            client.post(operation, null, 0, null, 0, 0, flag, 0, 0, 1);
        } catch (RpmaException e) {
            throw unexpected(e);
        }
    }

    /** The server posts a receive for an empty message. */
    final void receive() {
        try {
            server.responder().post(null, 0, 0, 2);
        } catch (RpmaException e) {
            throw unexpected(e);
        }
    }

    /** Polls a completion queue. Returns the number of completions. */
    final int poll(SoftCompletionQueue queue) {
        try {
            return queue.take(batch);
        } catch (RpmaException e) {
            throw unexpected(e);
        }
    }

    /** Continues a send that waits because of a lost wake-up, and polls all completions. */
    final void settle() {
        Memory.fullFence();
        server.wakePeer();
        while (poll(clientQueue) + poll(serverQueue) > 0) {
            Thread.onSpinWait();
        }
    }

    /** Makes an armed queue fire, so that its owner can consume the event and arm it. */
    static void fire(QueuePair pair) {
        pair.ownDoorbell().ring();
    }
}
