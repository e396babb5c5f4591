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

import io.rpma.ConnectionRequest;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import java.util.Arrays;

/** Reads the server's response to a connection request: one frame, and no byte beyond its end. */
final class Handshake {
    /** The response is not complete yet. */
    static final int NOTHING = 0;
    /** The server has accepted. */
    static final int ACCEPTED = 1;
    /** The server has refused, or closed. */
    static final int REJECTED = 2;
    /** The server does not respond any more. */
    static final int UNREACHABLE = 3;
    /** The response of the server is not valid. */
    static final int VIOLATED = 4;

    private final int socket;
    private final byte[] payload = new byte[Wire.MAX_WORDS];
    private final byte[] header = new byte[Wire.HEADER];
    private int have;
    private int type;
    private int length;

    Handshake(int socket) {
        this.socket = socket;
    }

    /** Continues to read. Returns the result so far, one of the constants. */
    int read() {
        long buffer = Scratch.get().messageAddress();
        while (true) {
            int whole = have < Wire.HEADER ? Wire.HEADER : Wire.HEADER + length;
            long count = Sockets.receive(socket, buffer, whole - have);
            if (count <= 0) {
                return count == -Posix.EAGAIN || count == -Posix.EINTR ? NOTHING
                    : count == 0 || count == -Sockets.ECONNRESET || count == -Sockets.EPIPE ? REJECTED : UNREACHABLE;
            }
            for (int i = 0; i < count; i++, have++) {
                if (have < Wire.HEADER) {
                    header[have] = Memory.getByte(buffer + i);
                } else {
                    payload[have - Wire.HEADER] = Memory.getByte(buffer + i);
                }
            }
            if (have == Wire.HEADER) {
                Memory.put(buffer, header);
                type = Wire.type(buffer);
                length = Wire.length(buffer);
                if (type == Wire.ACCEPT ? length != ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA
                    : type != Wire.REJECT || length < 0 || length > Wire.MAX_WORDS) {
                    return VIOLATED;
                }
            }
            if (have >= Wire.HEADER && have == Wire.HEADER + length) {
                return type == Wire.ACCEPT ? ACCEPTED : REJECTED;
            }
        }
    }

    /** Returns the private data of the server, or the text of its rejection. */
    byte[] payload() {
        return Arrays.copyOf(payload, Math.max(0, have - Wire.HEADER));
    }
}
