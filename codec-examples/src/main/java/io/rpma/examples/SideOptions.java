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
package io.rpma.examples;

import java.net.InetSocketAddress;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Options that run only one side of an example, so that the other side can run on another machine, and that give the address of
 * the server.
 */
final class SideOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @ArgGroup
    private Side side = new Side();

    @Option(names = "--host", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
        description = "where the server listens (default: ${DEFAULT-VALUE}, which means this host)")
    private String host;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "0",
        description = "the server's port (default: any free one)")
    private int port;

    /** The side to run. Without an option, the example runs both sides. */
    private static final class Side {
        @Option(names = "--server", description = "only serve, until interrupted; for a client on another machine")
        private boolean server;

        @Option(names = "--client", description = "only be the client of a server that runs at --host and --port")
        private boolean client;
    }

    boolean isServer() {
        return side.server;
    }

    boolean isClient() {
        return side.client;
    }

    /**
     * Returns the address of the server.
     *
     * @throws ParameterException if the port is invalid or the host name is unknown
     */
    InetSocketAddress address() {
        if (port < 0 || port > 65535 || port == 0 && side.client) {
            throw wrong("--port " + port + ": the server's port is needed, 1 to 65535");
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        // Java takes an empty name for this host.
        if (host.isEmpty() || address.isUnresolved()) {
            throw wrong("--host " + host + ": the name is unknown");
        }
        return address;
    }

    /** Returns an exception about an invalid option. */
    ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
