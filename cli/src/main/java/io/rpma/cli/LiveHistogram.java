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

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Shows the round trips while they are measured. A terminal shows bars that are redrawn; any other output gets one line per
 * second.
 */
final class LiveHistogram {
    private static final String WRAP = "\033[?7h";
    private static final String NO_WRAP = "\033[?7l";

    private final PrintWriter out;
    private final boolean terminal;
    private int drawn;
    private long lines;

    LiveHistogram(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    static LiveHistogram on(PrintWriter out) {
        return new LiveHistogram(out, System.console() != null && System.console().isTerminal());
    }

    /** Shows all round trips that have been measured so far. */
    void show(Histogram times, long nanos) {
        if (terminal) {
            List<String> picture = new ArrayList<>(Summary.bars(times));
            picture.addAll(Summary.lines(times));
            wipe();
            // A line that the terminal wraps would take more rows than are erased later, so the terminal must cut it off.
            out.print(NO_WRAP);
            picture.forEach(out::println);
            out.print(WRAP);
            drawn = picture.size();
        } else if (nanos >= TimeUnit.SECONDS.toNanos(lines + 1)) {
            lines = TimeUnit.NANOSECONDS.toSeconds(nanos);
            out.printf(Locale.ROOT, "%3d s %s%n", lines, Summary.line(times));
        }
        out.flush();
    }

    /** Erases the histogram, because the final summary follows. */
    void wipe() {
        if (drawn > 0) {
            // Moves to the beginning of the first line of the histogram and erases everything below it. The cursor may be behind
            // a key that the user has pressed.
            out.print("\033[" + drawn + "F\033[J");
            out.flush();
            drawn = 0;
        }
    }
}
