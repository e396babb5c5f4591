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

import io.rpma.posix.TcpSockets;

/** The options of the sockets of both sides. A socket that has been accepted has those of the listening socket. */
final class SocketOptions {
    /** The keep-alive options: idle time before the first probe, interval and number of probes; the time-out of unacked data. */
    private static final int IDLE_SECONDS = 30;
    private static final int PROBE_SECONDS = 10;
    private static final int PROBES = 3;
    private static final int TIMEOUT_MILLIS = 60_000;
    /**
     * Half of the send buffer of a connection within one host. Large data was transferred at up to twice the rate that it
     * has with the buffers that Linux chooses itself, 2.5 MiB and more, probably because less data is outside of the caches. With
     * more than this value the rate falls suddenly over veth, and with twice as much over loopback. Every user may set it: it is
     * less than the usual {@code net.core.wmem_max}.
     */
    private static final int LOCAL_SEND_BYTES = 128 << 10;

    private SocketOptions() {
    }

    /** Sets the options of a socket, before it listens or connects. */
    static void set(int socket) {
        TcpSockets.setNoDelay(socket);
        TcpSockets.setKeepAlive(socket, IDLE_SECONDS, PROBE_SECONDS, PROBES, TIMEOUT_MILLIS);
    }

    /**
     * Sets the options that depend on the other side, which has greeted. Between hosts, the kernel adapts the send buffer to the
     * distance.
     */
    static void set(int socket, Greeting peer) {
        if (peer.isOfThisHost()) {
            TcpSockets.setSendBuffer(socket, LOCAL_SEND_BYTES);
        }
    }
}
