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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;
import javax.management.JMException;

/** One of the two processes of a soak test. It executes commands from its standard input, and ends when the input ends. */
final class SoakPeer {
    /** The prefix of the server's first line; the address of the server follows it. */
    static final String LISTENING = "listening=";
    /** The prefix of the client's first line. */
    static final String CONNECTED = "connected=";
    /** A command, and the prefix of its answer; the result of {@link SoakFigure#toWord} follows it. */
    static final String MEMORY = "memory=";
    /**
     * A command to the client, which is followed by the number of messages, and the prefix of its answer, which is followed by
     * the nanoseconds.
     */
    static final String RUN = "run=";
    /** The prefix of the line that the client prints every second; the number of messages that have come back follows it. */
    static final String PROGRESS = "progress=";
    /** A command to the client to close all connections, and the answer. */
    static final String FINISH = "finish=";
    /** A command to the server, and the prefix of its answer; the number of correct messages follows it. */
    static final String CHECKED = "checked=";

    private SoakPeer() {
    }

    /**
     * Runs the process.
     *
     * @param arguments {@code server BYTES} or {@code client BYTES CONNECTIONS DEPTH ADDRESS}
     */
    public static void main(String[] arguments) throws Exception {
        try {
            run(arguments);
            System.exit(0);
        } catch (Throwable e) {
            // The stack trace goes to the log of this process. The explicit exit is necessary because the threads of the event
            // loops would keep the process alive.
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        NettyTransport transport = NettyTransport.RPMA;
        int bytes = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("server")) {
            LongAdder checked = new LongAdder();
            try (NettyServer server = new NettyServer(transport, connection -> connection.pipeline()
                    .addLast(new SoakFrameDecoder(bytes), new SoakEchoHandler(bytes, checked)))) {
                say(MEMORY + SoakFigure.toWord(SoakFigure.read()));
                say(LISTENING + server.address());
                obey(null, checked);
            }
        } else {
            say(MEMORY + SoakFigure.toWord(SoakFigure.read()));
            try (SoakClient client = new SoakClient(transport, transport.parse(arguments[4]), Integer.parseInt(arguments[2]),
                    bytes, Integer.parseInt(arguments[3]))) {
                say(CONNECTED);
                obey(client, null);
            }
        }
    }

    private static void obey(SoakClient client, LongAdder checked) throws IOException, InterruptedException, JMException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            if (command.equals(MEMORY)) {
                say(MEMORY + SoakFigure.toWord(SoakFigure.read()));
            } else if (command.equals(CHECKED)) {
                say(CHECKED + checked.sum());
            } else if (command.equals(FINISH)) {
                client.finish();
                say(FINISH);
            } else if (command.startsWith(RUN)) {
                say(RUN + client.run(Long.parseLong(command.substring(RUN.length())), done -> say(PROGRESS + done)));
            } else {
                throw new IOException("this process does not know the command " + command);
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
