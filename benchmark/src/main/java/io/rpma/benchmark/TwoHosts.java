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
package io.rpma.benchmark;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/**
 * Two network namespaces that are connected by a veth pair. For the network, they are like two hosts that are connected by a
 * cable. They are created in a user namespace and disappear with the two processes that hold them. Those processes end when this
 * process ends.
 */
final class TwoHosts implements AutoCloseable {
    /** The address of the host of the server. */
    static final String SERVER = "10.99.0.1";

    // The shell of the first host is the parent of the shell of the second one. Both read the standard input that this process
    // provides, so they end with this process.
    private static final String SCRIPT = """
        first=$$
        exec 3<&0
        ip link set lo up || exit
        unshare --net sh -c "
            ip link set lo up && ip link add wire type veth peer name wire netns $first &&
            ip address add 10.99.0.2/24 dev wire && ip link set wire up && echo \\$\\$ && exec cat
        " <&3 &
        exec cat
        """;

    private final Process first;
    private final long second;

    /**
     * Creates the two hosts.
     *
     * @throws IOException if this machine does not permit the user to create them; the message gives the reason
     */
    TwoHosts() throws IOException, InterruptedException {
        first = new ProcessBuilder("unshare", "--user", "--map-root-user", "--net", "sh", "-c", SCRIPT)
            .redirectErrorStream(true).start();
        String answer = first.inputReader().readLine();
        if (answer == null || !answer.matches("\\d+")) {
            close();
            throw new IOException("network namespaces cannot be made here: " + answer);
        }
        second = Long.parseLong(answer);
        for (String command : List.of("address add " + SERVER + "/24 dev wire", "link set wire up")) {
            if (new ProcessBuilder(concat(prefix(true), ("ip " + command).split(" "))).inheritIO().start().waitFor() != 0) {
                close();
                throw new IOException("the wire between two network namespaces cannot be set up: ip " + command);
            }
        }
    }

    private static List<String> concat(List<String> prefix, String... words) {
        return Stream.concat(prefix.stream(), Stream.of(words)).toList();
    }

    /** Returns the command prefix that runs the command after it on one of the hosts. */
    List<String> prefix(boolean isServer) {
        return List.of("nsenter", "--target", Long.toString(pid(isServer)), "--user", "--net",
            "--preserve-credentials");
    }

    /** Returns the identifier of the process that holds one of the hosts. */
    long pid(boolean isServer) {
        return isServer ? first.pid() : second;
    }

    @Override
    public void close() {
        first.destroy();
        try {
            first.getOutputStream().close();
        } catch (IOException e) {
            // The process has already ended.
            assert !first.isAlive() : e;
        }
    }
}
