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

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import java.nio.charset.StandardCharsets;

/**
 * Sends the server's response to a connection request, which the client reads with a {@link Handshake}. The adapter's thread and
 * the threads that take requests use it, each for the socket that it holds.
 */
final class Response {
    private Response() {
    }

    /** Accepts a client. Returns the number of bytes that the socket has taken, or {@code -errno}. */
    static long accept(int socket, byte[] privateData) {
        return send(socket, Wire.ACCEPT, privateData);
    }

    /** Refuses a client in words, and closes its socket. */
    static void reject(int socket, String reason) {
        byte[] words = reason.getBytes(StandardCharsets.UTF_8);
        if (words.length <= Wire.MAX_WORDS) {
            send(socket, Wire.REJECT, words);
        }
        Posix.close(socket);
    }

    private static long send(int socket, int type, byte[] payload) {
        long buffer = Scratch.get().messageAddress();
        Wire.write(buffer, type, 0, payload.length, 0, 0, 0, 0, 0);
        Memory.put(buffer + Wire.HEADER, payload);
        return Sockets.send(socket, buffer, Wire.HEADER + payload.length);
    }
}
