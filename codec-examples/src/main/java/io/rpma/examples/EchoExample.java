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

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs an echo server and an echo client in two processes, or only one of the two. */
@Command(name = "echo",
    description = "Two processes exchange a checked stream and measure round trips")
final class EchoExample implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private SideOptions side;

    @Option(names = "--bytes", paramLabel = "SIZE", defaultValue = "256MiB",
        description = "length of the stream in either direction, as 4096, 64KiB, 32MiB, 1GiB (default: ${DEFAULT-VALUE})")
    private ByteSize bytes;

    @Option(names = "--round-trips", paramLabel = "N", defaultValue = "20000",
        description = "how many messages of 64 bytes to measure, after half as many to warm up (default: ${DEFAULT-VALUE})")
    private int roundTrips;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
        description = "of the random data and message sizes (default: ${DEFAULT-VALUE})")
    private long seed;

    @Option(names = "--until-input-ends", hidden = true,
        description = "serve until the standard input ends: what the example starts its server process with")
    private boolean untilInputEnds;

    @Override
    public Integer call() throws IOException {
        if (roundTrips < 0) {
            throw side.wrong("--round-trips " + roundTrips + ": at least 0");
        }
        InetSocketAddress address = side.address();
        if (side.isServer()) {
            return serve(address);
        }
        if (side.isClient()) {
            // The server runs on another machine. If it ends, the connection closes.
            return runClient(address, () -> { });
        }
        return runBoth(address);
    }

    private int runBoth(InetSocketAddress address) throws IOException {
        // The server process is given the provider, so both use the same one and a warning about the choice is printed only once.
        List<String> arguments = List.of("echo", "--server", "--until-input-ends", "--provider",
            CommonOptions.provider().name(), "--host", address.getAddress().getHostAddress(), "--port",
            Integer.toString(address.getPort()));
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
            ServerProcess.say(server.address());
            if (untilInputEnds) {
                while (System.in.read() >= 0) {
                    // The parent process writes nothing; the loop waits for the end of the input.
                    continue;
                }
            } else {
                server.channel().closeFuture().syncUninterruptibly();
            }
        }
        return 0;
    }

    /** Throws an exception if the server has ended. */
    private interface Liveness {
        void check() throws IOException;
    }
}
