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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A network namespace, which is another host as far as the network is concerned. It is created in a user namespace, so that no
 * root rights are needed. It exists as long as the process that holds it, which ends when this process ends. Nothing outside of
 * it is changed.
 */
final class NetworkHost implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;
    private static final List<String> OWN_USERS = List.of("unshare", "--user", "--map-root-user");

    private final Process holder;

    private NetworkHost(List<String> prefix) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        // The loopback interface of a new namespace is down. The shell is replaced by a program that ends when its input ends.
        command.addAll(shell("unshare --net sh -c 'ip link set lo up && echo up && exec cat'"));
        holder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertEquals("up", holder.inputReader().readLine());
    }

    private static List<String> shell(String script) {
        return List.of("sh", "-c", "exec " + script);
    }

    /** Creates the first namespace, or skips the test if this user may not create one on this machine. */
    static NetworkHost first() throws Exception {
        List<String> trial = new ArrayList<>(OWN_USERS);
        trial.addAll(List.of("--net", "ip", "link", "add", "one", "type", "veth", "peer", "name", "two"));
        String problem;
        try {
            Process process = new ProcessBuilder(trial).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            problem = process.waitFor() == 0 ? null : output;
        } catch (IOException e) {
            problem = e.getMessage();
        }
        assumeTrue(problem == null, "this machine does not let this user make network namespaces: "
            + String.join(" ", trial) + ": " + problem);
        return new NetworkHost(OWN_USERS);
    }

    /** Creates another namespace in the same user namespace. */
    NetworkHost another() throws IOException {
        return new NetworkHost(List.of("nsenter", "--target", "" + holder.pid(), "--user", "--preserve-credentials"));
    }

    /** Returns the command that runs a program on this host. */
    List<String> command(List<String> program) {
        List<String> command = new ArrayList<>(List.of("nsenter", "--target", "" + holder.pid(), "--user", "--net",
            "--preserve-credentials"));
        command.addAll(program);
        return command;
    }

    /**
     * Connects this host and another one by a virtual cable. This host gets the address 1, the other one the address 2.
     *
     * @param network the first three bytes of the addresses, which are also the name of the interfaces
     */
    void join(NetworkHost other, String network) throws Exception {
        run("ip", "link", "add", network, "type", "veth", "peer", "name", network, "netns", "" + other.holder.pid());
        run("ip", "address", "add", network + ".1/24", "dev", network);
        run("ip", "link", "set", network, "up");
        other.run("ip", "address", "add", network + ".2/24", "dev", network);
        other.run("ip", "link", "set", network, "up");
    }

    /** Runs a command on this host, which must succeed. */
    void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command(List.of(command))).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), () -> String.join(" ", command) + ": " + output);
    }

    @Override
    public void close() throws IOException {
        holder.getOutputStream().close();
        try {
            if (!holder.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                holder.destroyForcibly();
                throw new AssertionError("the process that holds a network namespace did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
