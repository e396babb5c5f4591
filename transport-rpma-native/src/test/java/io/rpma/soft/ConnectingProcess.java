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
package io.rpma.soft;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;

/** The side of a test that controls a {@link ConnectingChild}: it gives orders and reads the answers. */
final class ConnectingProcess {
    /** The port at which the process listens. */
    final int port;
    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter orders;

    ConnectingProcess() throws IOException {
        process = ChildProcess.start(ConnectingChild.class);
        answers = process.inputReader();
        orders = new PrintWriter(process.outputWriter(), true);
        port = Integer.parseInt(answers.readLine());
    }

    /** Gives an order, and returns the answer. */
    String order(String order) throws IOException {
        orders.println(order);
        return answers.readLine();
    }

    /** Ends the process. */
    void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
