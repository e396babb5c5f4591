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

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code rpma info}. */
@Command(name = "info",
    description = "What RDMA this machine has, which provider a program would get and why, and what is missing; with an address,"
        + " also which path a connection to it takes, and why none of the better ones",
    footer = {"", "Exit code: 0 if a program gets a provider, a path, and a connection to the address; 1 if not; 2 if called"
            + " wrongly."})
final class InfoCommand implements Callable<Integer> {
    private static final Gson JSON = new GsonBuilder().serializeNulls().setPrettyPrinting().disableHtmlEscaping().create();

    @Spec
    private CommandSpec spec;

    @Mixin
    private ProviderOption provider;

    @Parameters(arity = "0..1", paramLabel = "HOST:PORT",
        description = "connect to it and close the connection, as 10.0.0.1:7471 or [fd77::1]:7471")
    private InetSocketAddress address;

    @Option(names = {"-W", "--timeout"}, paramLabel = "SECONDS", defaultValue = "10",
        description = "how long the connection may take to come about (default: ${DEFAULT-VALUE})")
    private String timeoutText;

    @Option(names = "--json", description = "print one JSON object, with null where there is no limit or no answer")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        int timeout = NumberArgument.parse(spec.commandLine(), "--timeout", timeoutText, 1, Probe.LONGEST_TIMEOUT_SECONDS);
        // The report contains the information of these warnings in a better form, so they are not logged.
        System.setProperty("org.slf4j.simpleLogger.log.io.rpma.Rpma", "error");
        System.setProperty("org.slf4j.simpleLogger.log.io.rpma.netty.RpmaChannel", "error");
        Report report = new Examination(provider.isGiven()).run(address, timeout);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(JSON.toJson(report));
            out.flush();
        } else {
            InfoText.print(report, out);
        }
        boolean connected = address == null || report.connection() != null && report.connection().problem() == null;
        return report.provider().name() == null || report.paths().isEmpty() || !connected ? ExitCode.SOFTWARE : ExitCode.OK;
    }
}
