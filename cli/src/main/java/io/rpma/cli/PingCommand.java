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
package io.rpma.cli;

import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaPath;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code rpma ping}. */
@Command(name = "ping",
    description = "Round trips to a running echo by each path that leads there, with a histogram while they run",
    footer = {"", "The other end is any server that returns each byte: ./run-example.sh echo --server --host HOST --port PORT.",
        "Exit code: 0 if every message came back as it was sent, 1 if not, or if a --path does not work, 2 for a wrong option."})
final class PingCommand implements Callable<Integer> {
    private static final int LARGEST = 1 << 20;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderOption provider;

    @Parameters(paramLabel = "HOST:PORT", description = "where the echo listens, as 10.0.0.1:7471 or [fd77::1]:7471")
    private InetSocketAddress address;

    @Option(names = {"-n", "--count"}, paramLabel = "N", defaultValue = "0",
        description = "how many round trips by each path (default: as many as there is time for)")
    private String countText;

    @Option(names = {"-t", "--seconds"}, paramLabel = "N", defaultValue = "5",
        description = "how long at most by each path (default: ${DEFAULT-VALUE})")
    private String secondsText;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "64",
        description = "length of a message, 8 to 1048576 (default: ${DEFAULT-VALUE})")
    private String sizeText;

    @Option(names = {"-i", "--interval"}, paramLabel = "MICROS", defaultValue = "0",
        description = "pause between an answer and the next message (default: ${DEFAULT-VALUE})")
    private String intervalText;

    @Option(names = {"-W", "--timeout"}, paramLabel = "SECONDS", defaultValue = "5",
        description = "how long an answer may take, or the connection to come about (default: ${DEFAULT-VALUE})")
    private String timeoutText;

    @Option(names = "--path", paramLabel = "PATH", split = ",",
        description = "which paths to measure, one after the other: shared-memory, rdma, tcp (default: all that work,"
            + " or those of them that -Dio.rpma.netty.paths names)")
    private List<RpmaPath> paths;

    private long count;
    private int seconds;
    private int size;
    private int interval;
    private int timeout;

    // The client of the path that is being measured; null between two paths.
    private volatile PingClient current;
    private volatile boolean stopped;

    @Override
    public Integer call() throws IOException, InterruptedException {
        parseNumbers();
        List<RpmaPath> chosen = paths == null ? available() : List.copyOf(new LinkedHashSet<>(paths));
        PrintWriter out = spec.commandLine().getOut();
        PathTable table = new PathTable();
        CountDownLatch summedUp = new CountDownLatch(1);
        // A user who interrupts the command still gets the summary.
        Thread onInterrupt = Thread.ofPlatform().unstarted(() -> {
            stop();
            await(summedUp);
        });
        Runtime.getRuntime().addShutdownHook(onInterrupt);
        try {
            for (RpmaPath path : chosen) {
                measure(path, chosen.size() == 1, table, out);
            }
            if (chosen.size() > 1) {
                table.print(out);
            }
        } finally {
            summedUp.countDown();
            removeHook(onInterrupt);
        }
        if (table.hasBroken()) {
            return ExitCode.SOFTWARE;
        }
        if (table.isEmpty() && !stopped) {
            throw new IOException("no path leads to " + Probe.text(address));
        }
        return paths != null && !table.failures().isEmpty() ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    /** Returns the paths that a channel would try. */
    private static List<RpmaPath> available() throws IOException {
        List<RpmaPath> available = Probe.paths();
        if (available.isEmpty()) {
            throw new IOException("this process has none of the paths of -Dio.rpma.netty.paths="
                + System.getProperty("io.rpma.netty.paths") + "; it has " + Rpma.providers().stream().map(RpmaPath::of).toList());
        }
        return available;
    }

    /**
     * Measures one path.
     *
     * @param alone whether it is the only path; only then is a failure reported immediately, and not in the table
     */
    private void measure(RpmaPath path, boolean alone, PathTable table, PrintWriter out)
            throws IOException, InterruptedException {
        PingClient client;
        try {
            if (stopped) {
                return;
            }
            if (!alone && !Probe.provider(path).mayReach(address.getAddress())) {
                table.failed(path, KernelDevices.text(address.getAddress()) + " is not an address of this host");
                return;
            }
            client = new PingClient(address, path, size, count, TimeUnit.MICROSECONDS.toNanos(interval), timeout);
            current = client;
            if (stopped) {
                client.stop();
            }
            client.connect();
        } catch (IOException | IllegalArgumentException e) {
            current = null;
            if (stopped) {
                return;
            }
            if (alone) {
                throw e;
            }
            table.failed(path, FailureText.of(e));
            return;
        }
        try (PingClient connected = client) {
            printDevice(connected.channel(), out);
            LiveHistogram live = LiveHistogram.on(out);
            Histogram times = connected.run(TimeUnit.SECONDS.toNanos(seconds), (soFar, nanos) -> {
                live.show(soFar, nanos);
                // Nobody would see the result, for instance if the command runs in a pipe to a program that has ended.
                if (System.out.checkError()) {
                    stop();
                }
            });
            live.wipe();
            Summary.print(times, out);
            table.measured(path, times);
        } catch (IOException e) {
            if (alone) {
                throw e;
            }
            table.broke(path, FailureText.of(e));
        } finally {
            current = null;
        }
    }

    /** Returns the client of the path that is being measured; {@code null} between two paths. */
    PingClient current() {
        return current;
    }

    /** Ends the command without waiting for the server. Any thread may call this method. */
    void stop() {
        stopped = true;
        PingClient running = current;
        if (running != null) {
            running.stop();
        }
    }

    private void parseNumbers() {
        CommandLine command = spec.commandLine();
        count = NumberArgument.parse(command, "--count", countText, 0, Long.MAX_VALUE,
            ", where 0 means as many as there is time for");
        seconds = NumberArgument.parse(command, "--seconds", secondsText, 1, Integer.MAX_VALUE);
        size = NumberArgument.parse(command, "--size", sizeText, PingClient.SMALLEST, LARGEST);
        interval = NumberArgument.parse(command, "--interval", intervalText, 0, Integer.MAX_VALUE);
        timeout = NumberArgument.parse(command, "--timeout", timeoutText, 1, Probe.LONGEST_TIMEOUT_SECONDS);
    }

    private void printDevice(RpmaChannel channel, PrintWriter out) throws RpmaException {
        out.println("provider=" + Probe.provider(channel.path()).name() + " device=" + Probe.device(channel) + " path="
            + channel.path() + " from=" + text(channel.localAddress()) + " to=" + text(channel.remoteAddress())
            + " size=" + size);
        out.flush();
    }

    private static String text(InetSocketAddress address) {
        return KernelDevices.text(address.getAddress()) + " port " + address.getPort();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The hook is already running and waits for the end of this method's caller.
            return;
        }
    }
}
