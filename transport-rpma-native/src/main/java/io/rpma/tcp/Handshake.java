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
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import java.util.Arrays;

/**
 * The client's side of connecting: sends the connection request when the listener has greeted, and reads the server's response,
 * which is one frame, and no byte beyond its end. Never blocks. Used by one thread at a time.
 */
final class Handshake {
    /** The greeting or the response is not complete yet. */
    static final int NOTHING = 0;
    /** The server has accepted. */
    static final int ACCEPTED = 1;
    /** The server has refused, or closed. */
    static final int REJECTED = 2;
    /** The server does not respond any more. */
    static final int UNREACHABLE = 3;
    /** The response of the server is not valid. */
    static final int VIOLATED = 4;

    private final Dialer dialer;
    private final byte[] data;
    private boolean requested;
    private final byte[] payload = new byte[Wire.MAX_WORDS];
    private final byte[] header = new byte[Wire.HEADER];
    private int have;
    private int type;
    // Of the payload; -1 until the header has arrived.
    private int length = -1;

    /**
     * Creates a handshake.
     *
     * @param dialer connects to the listener
     * @param data the private data of the request, whose length is fixed
     */
    Handshake(Dialer dialer, byte[] data) {
        this.dialer = dialer;
        this.data = data;
    }

    /** Returns the connection to the listener. */
    Dialer dialer() {
        return dialer;
    }

    /** Returns whether the request has been sent. */
    boolean isRequested() {
        return requested;
    }

    /**
     * Continues.
     *
     * @return the result so far, one of the constants
     * @throws RpmaException if the address cannot be reached in time, or what listens there is no listener of this provider
     */
    int proceed() throws RpmaException {
        if (requested) {
            return read();
        }
        if (!dialer.proceed()) {
            return NOTHING;
        }
        if (dialer.isRefused()) {
            return REJECTED;
        }
        request();
        // The response cannot have arrived already.
        return NOTHING;
    }

    private void request() throws RpmaException {
        byte[] request = Greeting.request(dialer.version()).write();
        System.arraycopy(data, 0, request, Greeting.SIZE, data.length);
        long buffer = Scratch.get().messageAddress();
        Memory.put(buffer, request);
        long sent = Sockets.send(dialer.socket(), buffer, request.length);
        // If the listener has closed meanwhile, reading the response shows that.
        if (sent != request.length && sent != -Sockets.EPIPE && sent != -Sockets.ECONNRESET) {
            throw TcpLog.failure(RpmaError.PROVIDER, (int) Math.max(0, -sent), "connect: the request cannot be sent to "
                + dialer.remote() + (sent < 0 ? ": " + Posix.strerror((int) -sent) : ""), null);
        }
        requested = true;
    }

    /** Continues to read the response. */
    private int read() {
        long buffer = Scratch.get().messageAddress();
        while (true) {
            // At first the length is not known. An acceptance is the longest response after which the server may send more.
            int whole = Wire.HEADER + (length < 0 ? ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA : length);
            long count = Sockets.receive(dialer.socket(), buffer, whole - have);
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
            if (length < 0 && have >= Wire.HEADER) {
                Memory.put(buffer, header);
                type = Wire.type(buffer);
                length = Wire.length(buffer);
                if (type == Wire.ACCEPT ? length != ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA
                    : type != Wire.REJECT || length < 0 || length > Wire.MAX_WORDS) {
                    return VIOLATED;
                }
                if (have > Wire.HEADER + length) {
                    // Data follows a rejection.
                    return VIOLATED;
                }
            }
            if (length >= 0 && have == Wire.HEADER + length) {
                return type == Wire.ACCEPT ? ACCEPTED : REJECTED;
            }
        }
    }

    /** Returns the private data of the server, or the text of its rejection. */
    byte[] payload() {
        return Arrays.copyOf(payload, Math.max(0, have - Wire.HEADER));
    }
}
