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
 * Two network namespaces that are joined by veth, which are to the network what two hosts with a wire between them are. They are
 * made in a user namespace, and are gone with the two processes that hold them, which end with this one.
 */
final class TwoHosts implements AutoCloseable {
    /** The address of the server's host. */
    static final String SERVER = "10.99.0.1";

    // The shell of the first host is the parent of the second one's; both read the input of this process, to end with it.
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
     * Makes them.
     *
     * @throws IOException if this machine does not let this user; the message says why
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

    /** Returns what runs the command that follows on one of the hosts. */
    List<String> prefix(boolean isServer) {
        return List.of("nsenter", "--target", Long.toString(pid(isServer)), "--user", "--net",
            "--preserve-credentials");
    }

    /** Returns the process that holds one of them. */
    long pid(boolean isServer) {
        return isServer ? first.pid() : second;
    }

    @Override
    public void close() {
        first.destroy();
        try {
            first.getOutputStream().close();
        } catch (IOException e) {
            // The process is gone already.
            assert !first.isAlive() : e;
        }
    }
}
