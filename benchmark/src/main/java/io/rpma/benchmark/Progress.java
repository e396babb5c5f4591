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

import java.time.Duration;

/** Shows the progress of the work. On a terminal, the last line is overwritten with the current state. */
final class Progress implements AutoCloseable {
    private static final int WIDTH = 20;
    private static final String WIPE = "\r\033[K";

    private final boolean isTerminal = System.console() != null && System.console().isTerminal();
    private final long began = System.nanoTime();
    private final int steps;
    private int begun;
    private String drawn;

    Progress(int steps) {
        this.steps = steps;
    }

    /** Starts the next step. */
    void next(String what) {
        int done = begun++;
        int filled = WIDTH * done / steps;
        String left = "";
        if (done > 0) {
            Duration rest = Duration.ofNanos((System.nanoTime() - began) / done * (steps - done));
            left = String.format(", %d:%02d left", rest.toMinutes(), rest.toSecondsPart());
        }
        drawn = "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] " + 100 * done / steps + " %" + left + "; " + what;
        draw();
    }

    /** Prints a line that is not overwritten. */
    void say(String line) {
        System.out.println((isTerminal ? WIPE : "") + line);
        draw();
    }

    private void draw() {
        if (isTerminal) {
            System.out.print(WIPE + drawn);
            System.out.flush();
        }
    }

    @Override
    public void close() {
        if (isTerminal) {
            System.out.print(WIPE);
        }
    }
}
