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

import io.rpma.Rpma;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One of the two processes that measure one-sided operations. The server ends when its standard input ends. */
final class OneSidedPeer {
    /** The prefix of the server's first line; the ports follow it. */
    static final String LISTENING = "listening=";
    /** The prefix of a line of the client that contains a figure. */
    static final String FIGURE = "figure=";
    /** The last line of the client. */
    static final String DONE = "done=";

    private OneSidedPeer() {
    }

    /**
     * Runs one end.
     *
     * @param arguments {@code server SIZES} or {@code client SIZES PORTS OPERATIONS WARM-UP WINDOW SERVER-PID}; times in
     *     milliseconds
     */
    public static void main(String[] arguments) throws Exception {
        try {
            List<OneSidedSize> sizes = OneSidedSize.parse(arguments[1]);
            if (arguments[0].equals("server")) {
                serve(sizes);
            } else {
                measure(sizes, arguments);
            }
            System.exit(0);
        } catch (Throwable e) {
            // The stack trace goes to the log of this process. The explicit exit is necessary because the threads of the event
            // loops would keep the process alive.
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void serve(List<OneSidedSize> sizes) throws Exception {
        try (OneSidedServer server = new OneSidedServer(sizes)) {
            List<String> ports = server.ports().stream().map(port -> Integer.toString(port)).toList();
            System.out.println(LISTENING + String.join(",", ports));
            while (System.in.read() >= 0) {
                // No input is expected; the loop only waits for its end.
                continue;
            }
        }
    }

    private static void measure(List<OneSidedSize> sizes, String[] arguments) throws Exception {
        int[] ports = Arrays.stream(arguments[2].split(",")).mapToInt(Integer::parseInt).toArray();
        List<OneSidedKind> kinds = Arrays.stream(arguments[3].split(",")).map(OneSidedKind::withKey).toList();
        Timing timing = new Timing(TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[4])),
            TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[5])));
        ProcessTimes processes = new ProcessTimes(ProcessHandle.current().pid(), Long.parseLong(arguments[6]));
        try (OneSidedClient client = new OneSidedClient(kinds, timing, processes)) {
            client.warmUp(ports[0], sizes.getFirst());
            for (int i = 0; i < ports.length; i++) {
                client.measure(ports[i], sizes.get(i), figure -> System.out.println(FIGURE + figure.toLine()));
            }
        }
        System.out.println(DONE + Rpma.provider().name());
    }
}
