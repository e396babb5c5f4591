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

import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.control.Hello;
import java.nio.ByteBuffer;

/** Makes the decoders of the software provider accessible for tests with garbage. */
public final class ControlDecoders {
    private static final ControlMessage.Incoming INCOMING = new ControlMessage.Incoming();

    private ControlDecoders() {
    }

    /** Receives a message of a control socket or a link, and releases the descriptors that came with it. */
    public static void message(int socket) {
        ControlMessage message = ControlMessage.receive(socket, INCOMING);
        if (message != null) {
            message.closeAttachments();
        } else if (INCOMING.result > 0) {
            throw new IllegalStateException("no message, and no reason");
        } else if (INCOMING.result == 0) {
            // An empty message looks like the end of a connection, and stays in the socket in front of all later ones.
            Sockets.takeMessage(socket);
        }
    }

    /** Decodes the description of one end of a connection. */
    public static void end(ByteBuffer data) {
        EndDescription.read(data);
    }

    /** Decodes a hello. */
    public static void hello(byte[] data, int length) {
        Hello.read(data, length);
    }
}
