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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests how the delay of a thread is read. */
@Timeout(120)
class RunDelayTest {
    private static final int THREADS = 4;
    private static final int READS = 200_000;
    private static final long NANOS = 9_876_543_210L;

    @TempDir
    private Path folder;

    @Test
    void theNeighboursOfAllPathsReadTheDelayOfTheServerAtTheSameTime() throws Exception {
        String path = Files.writeString(folder.resolve("schedstat"), "1234567890123 " + NANOS + " 4711\n").toString();
        CyclicBarrier together = new CyclicBarrier(THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Long>> wrong = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                wrong.add(threads.submit(() -> {
                    RunDelay delay = RunDelay.of(path);
                    together.await();
                    long different = 0;
                    for (int k = 0; k < READS; k++) {
                        if (delay.nanos() != NANOS) {
                            different++;
                        }
                    }
                    return different;
                }));
            }
            for (Future<Long> each : wrong) {
                assertEquals(0, each.get());
            }
        }
    }

    @Test
    void aThreadThatIsUnknownHasNone() {
        assertEquals(0, RunDelay.of(folder.resolve("nowhere").toString()).nanos());
    }
}
