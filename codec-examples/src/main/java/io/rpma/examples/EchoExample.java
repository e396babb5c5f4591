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

import io.rpma.Rpma;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs an echo server and an echo client in two processes, or one of the two by hand. */
@Command(name = "echo",
    description = "Two processes exchange a checked stream and measure round trips")
final class EchoExample implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private CommonOptions common;

    @ArgGroup
    private Role role = new Role();

    @Option(names = "--bytes", paramLabel = "SIZE", defaultValue = "256MiB",
        description = "length of the stream in either direction, as 4096, 64KiB, 32MiB, 1GiB (default: ${DEFAULT-VALUE})")
    private ByteSize bytes;

    @Option(names = "--round-trips", paramLabel = "N", defaultValue = "20000",
        description = "how many messages of 64 bytes to measure, after half as many to warm up (default: ${DEFAULT-VALUE})")
    private int roundTrips;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
        description = "of the random data and message sizes (default: ${DEFAULT-VALUE})")
    private long seed;

    @Option(names = "--host", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
        description = "where the server listens (default: ${DEFAULT-VALUE}, which means this host)")
    private String host;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "0",
        description = "the server's port (default: any free one)")
    private int port;

    @Option(names = "--until-input-ends", hidden = true,
        description = "serve until the standard input ends: what the example starts its server process with")
    private boolean untilInputEnds;

    /** Which side to run by hand. */
    static final class Role {
        @Option(names = "--server", description = "only serve, until interrupted; for a client on another machine")
        private boolean server;

        @Option(names = "--client", description = "only be the client of a server that runs at --host and --port")
        private boolean client;
    }

    @Override
    public Integer call() throws IOException {
        if (roundTrips < 0) {
            throw wrong("--round-trips " + roundTrips + ": at least 0");
        }
        if (port < 0 || port > 65535 || port == 0 && role.client) {
            throw wrong("--port " + port + ": the server's port is needed, 1 to 65535");
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw wrong("--host " + host + ": the name is unknown");
        }
        if (role.server) {
            return serve(address);
        }
        if (role.client) {
            // A server on another machine: its end shows as the end of the connection.
            return runClient(address, () -> { });
        }
        return runBoth(address);
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int runBoth(InetSocketAddress address) throws IOException {
        // Both processes take the provider that is chosen here; the warning that goes with a choice comes once.
        List<String> arguments = List.of("echo", "--server", "--until-input-ends", "--provider", Rpma.provider().name(),
            "--host", address.getAddress().getHostAddress(), "--port", Integer.toString(port));
        try (ServerProcess server = new ServerProcess(arguments)) {
            int code;
            try {
                code = runClient(server.address(), server::check);
            } catch (IOException e) {
                throw server.explain(e);
            }
            server.end();
            return code;
        }
    }

    private int runClient(InetSocketAddress address, Liveness server) throws IOException {
        EchoResult result;
        try (ProgressBar bar = ProgressBar.onTerminal(); EchoClient client = new EchoClient(address, (what, done, of) -> {
            bar.show(what, done, of);
            server.check();
        })) {
            CommonOptions.print(client.channel());
            result = client.run(new EchoPlan(bytes.bytes(), roundTrips, seed));
        }
        result.print(System.out);
        if (!result.matches()) {
            throw new IOException("the two ends do not agree on what was sent and received");
        }
        return 0;
    }

    private int serve(InetSocketAddress address) throws IOException {
        try (EchoServer server = new EchoServer(address, untilInputEnds ? line -> { } : System.out::println)) {
            if (!untilInputEnds) {
                CommonOptions.print(server.channel());
            }
            System.out.println(ServerProcess.LISTENING + server.address().getAddress().getHostAddress() + ":"
                + server.address().getPort());
            if (untilInputEnds) {
                while (System.in.read() >= 0) {
                    // The starter writes nothing; what counts is the end.
                    continue;
                }
            } else {
                server.channel().closeFuture().syncUninterruptibly();
            }
        }
        return 0;
    }

    /** Fails if the server is known to have ended. */
    private interface Liveness {
        void check() throws IOException;
    }
}
