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

package io.rpma.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that only the measured pauses of the machine are subtracted from the pauses of a neighbour. */
@Timeout(120)
class PausesTest {
    @TempDir
    private Path folder;

    @Test
    void onlyWhatOverlapsIsTakenOff() {
        Pauses pauses = new Pauses();
        pauses.add(0, 100, 200);
        pauses.add(0, 300, 400);
        assertEquals(50, pauses.excess(0, 50));
        assertEquals(100, pauses.excess(0, 200));
        assertEquals(300 - 50 - 100, pauses.excess(150, 450));
        assertEquals(0, pauses.excess(120, 180));
        assertEquals(1000, pauses.excess(400, 1400));
    }

    @Test
    void theProcessorThatPausedMostExplains() {
        Pauses pauses = new Pauses();
        pauses.add(0, 100, 200);
        pauses.add(3, 100, 250);
        assertEquals(500 - 150, pauses.excess(0, 500));
        assertEquals(150e-6, pauses.longest());
    }

    /** A meter that is stopped measures the same as on a machine that is stopped. */
    @Test
    void theMeterSeesAPause() throws Exception {
        Pauses pauses = new Pauses();
        BlockingQueue<String> gaps = new LinkedBlockingQueue<>();
        try (Child meter = Child.start("meter", List.of(), List.of(), HiccupMain.class, List.of(), folder.resolve("log"),
            line -> line.startsWith("gap ") && gaps.add(line))) {
            meter.expect("ready");
            meter.signal(Signals.STOP);
            while (!Files.readString(Path.of("/proc/" + meter.pid() + "/stat")).contains(") T ")) {
                Thread.onSpinWait();
            }
            // This is the pause, which begins after the meter has stopped.
            long from = System.nanoTime();
            TimeUnit.MILLISECONDS.sleep(300);
            long to = System.nanoTime();
            meter.signal(Signals.CONT);
            do {
                String[] words = gaps.take().split(" ");
                pauses.add(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
            } while (pauses.excess(from, to) > 100_000_000);
            assertTrue(pauses.longest() > 200);
        }
    }
}
