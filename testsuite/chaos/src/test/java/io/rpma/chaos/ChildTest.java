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

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what happens to a process that ends by itself. */
@Timeout(120)
class ChildTest {
    @TempDir
    private Path folder;

    /** Ends when its input ends, or when it is told to. */
    static final class Brief {
        private Brief() {
        }

        public static void main(String[] arguments) throws Exception {
            System.out.println("ready");
            System.in.read();
        }
    }

    @Test
    void aProcessThatHasEndedGetsNoSignal() throws Exception {
        try (Child child = Child.start("brief", List.of(), List.of("-cp", System.getProperty("java.class.path")), Brief.class,
                List.of(), folder.resolve("log"), line -> false)) {
            child.expect("ready");
            assertTrue(child.signal(Signals.STOP));
            assertTrue(child.signal(Signals.CONT));
            child.order("end");
            assertNull(child.next(60_000));
            // The end of the output may be seen before the end of the process, for which this waits.
            child.kill();
            assertFalse(child.isAlive());
            assertFalse(child.signal(Signals.STOP));
        }
    }
}
