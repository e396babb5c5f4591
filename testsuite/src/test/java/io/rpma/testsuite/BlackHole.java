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
package io.rpma.testsuite;

import io.rpma.Rpma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * An address at which every attempt to connect times out, whatever network the host has. It is a listening socket of this process
 * whose accept queue is full, so that the kernel drops each further SYN. The real librpma uses the device and not TCP, so with it
 * the address is {@value #UNUSED_ADDRESS}, from a network that RFC 5737 reserves. That network must be routed to the device, as
 * softroce/run.sh does.
 */
final class BlackHole {
    static final String HOST_PROPERTY = "io.netty.testsuite.badHost";
    static final String PORT_PROPERTY = "io.netty.testsuite.badPort";

    private static final String UNUSED_ADDRESS = "192.0.2.254";
    private static final int SHORT_MILLIS = 2_000;
    private static final int MOST_ATTEMPTS = 16;

    /**
     * The sockets, which stay open as long as this process lives. The garbage collector would close a socket that is not
     * referenced.
     */
    private static final List<AutoCloseable> HELD = new ArrayList<>();

    private BlackHole() {
    }

    /** Sets Netty's two properties, unless they are already set. */
    static void install() {
        if (System.getProperty(HOST_PROPERTY) != null) {
            return;
        }
        if (TestTransport.CURRENT == TestTransport.RPMA && Rpma.provider().name().equals("librpma")) {
            System.setProperty(HOST_PROPERTY, UNUSED_ADDRESS);
            return;
        }
        try {
            InetSocketAddress full = openFullListener();
            System.setProperty(HOST_PROPERTY, full.getAddress().getHostAddress());
            System.setProperty(PORT_PROPERTY, Integer.toString(full.getPort()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InetSocketAddress openFullListener() throws IOException {
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        HELD.add(listener);
        InetSocketAddress address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            Socket filler = new Socket();
            HELD.add(filler);
            try {
                filler.connect(address, SHORT_MILLIS);
            } catch (SocketTimeoutException e) {
                return address;
            }
        }
        throw new IOException("the accept queue of " + address + " accepted " + MOST_ATTEMPTS + " connections and is not full");
    }
}
