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
package io.rpma.chaos.hostile;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that the attack on shared memory is not reported as done if it did nothing. */
@Timeout(120)
class ScribbleTest {
    /** A name of the memory that the provider has changed would have this effect. */
    @Test
    void memoryThatIsNotFoundIsReported() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertEquals(0, Scribble.targets(List.of(), true).size());
        } finally {
            System.setOut(before);
        }
        assertTrue(said.toString(StandardCharsets.UTF_8).startsWith("wrong none of the memory"), said::toString);
    }

    @Test
    void anActionThatFailsIsNotDone() {
        OwnSockets own = new OwnSockets(null);
        assertThrows(IllegalStateException.class, () -> own.betweenOperations(() -> {
            throw new IllegalStateException();
        }));
    }
}
