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

import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.Peer;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import java.nio.charset.StandardCharsets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A client of a listener that consists only of a socket. */
final class RawClient implements AutoCloseable {
    private static final int ADDRESS_BYTES = 20;

    private final int fd;

    private RawClient(int fd) {
        this.fd = fd;
    }

    /** Connects to a listener, and sends nothing. */
    static RawClient connect(Peer peer, Endpoint endpoint) {
        return connect(((SoftPeer) peer).rendezvous().names().listener(endpoint.localAddress()));
    }

    /** Connects to a listener as another user. */
    static RawClient connectAsAnotherUser(Peer peer, Endpoint endpoint) {
        String name = ((SoftPeer) peer).rendezvous().names().listener(endpoint.localAddress());
        RawClient[] client = new RawClient[1];
        AnotherUser.call(() -> {
            client[0] = connect(name);
            return 0;
        });
        return client[0];
    }

    private static RawClient connect(String name) {
        int fd = Sockets.socket(Sockets.AF_UNIX, Sockets.SOCK_SEQPACKET | Sockets.SOCK_NONBLOCK);
        assertTrue(fd >= 0, Posix.strerror(-fd));
        assertEquals(0, Sockets.connectAbstract(fd, name));
        return new RawClient(fd);
    }

    /** Sends data that is not a message of the protocol. */
    void sendNonsense() {
        assertEquals(4, Sockets.send(fd, Scratch.get().messageAddress(), 4));
    }

    /**
     * Requests a connection.
     *
     * @param end the description of the client's end
     * @param link the end of a link for the listener
     */
    void request(EndDescription end, int link) {
        request(fd, end, link);
    }

    /** Sends the request on another socket; see the other method of this name. */
    static void request(int fd, EndDescription end, int link) {
        ControlMessage message = ControlMessage.of(ControlMessage.CONNECT).attach(ControlMessage.LINK, 0, 0, link);
        end.write(message.body());
        message.body().put(new byte[2 * ADDRESS_BYTES + ConnectionRequest.MAX_CONNECT_PRIVATE_DATA]);
        assertEquals(0, message.send(fd));
    }

    /** Returns whether the listener has closed the connection without sending a message. */
    boolean isClosed() {
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        return ControlMessage.receive(fd, incoming) == null && incoming.result == 0;
    }

    /** Returns the message with which the listener rejects this client, or {@code null} if the listener has sent nothing. */
    String rejection() {
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        ControlMessage message = ControlMessage.receive(fd, incoming);
        if (message == null) {
            assertEquals(-Posix.EAGAIN, incoming.result);
            return null;
        }
        assertEquals(ControlMessage.REJECT, message.type());
        byte[] words = new byte[message.body().remaining()];
        message.body().get(words);
        return new String(words, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        Posix.close(fd);
    }
}
