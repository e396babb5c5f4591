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

import java.io.PrintStream;

/** A line on a terminal that is redrawn as the work progresses and erased at the end. Without a terminal it prints nothing. */
final class ProgressBar implements AutoCloseable {
    private static final int WIDTH = 40;
    private static final String WIPE = "\r\033[K";

    private final PrintStream terminal;
    private boolean drawn;

    /** Creates a bar that draws on a stream; {@code null} if there is no terminal. */
    ProgressBar(PrintStream terminal) {
        this.terminal = terminal;
    }

    static ProgressBar onTerminal() {
        return new ProgressBar(System.console() != null && System.console().isTerminal() ? System.out : null);
    }

    void show(String what, long done, long of) {
        if (terminal != null) {
            int filled = (int) (WIDTH * done / of);
            terminal.print(WIPE + "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] " + 100 * done / of + " % of the "
                + what);
            terminal.flush();
            drawn = true;
        }
    }

    @Override
    public void close() {
        if (drawn) {
            terminal.print(WIPE);
            terminal.flush();
            drawn = false;
        }
    }
}
