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
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests a process that has no descriptors left when it asks for the provider, and when it makes its first connection. */
@Timeout(120)
class FirstConnectionTest {
    /** What all connections share is created with the provider or the first one. A shortage then must not be final. */
    @Test
    void itSucceedsWhenThereAreDescriptorsAgain() throws Exception {
        Process process = ChildProcess.startBy(List.of("sh", "-c", "ulimit -n 512 && exec \"$@\"", "sh"), List.of(),
            FirstConnectionChild.class);
        try (BufferedReader output = process.inputReader()) {
            assertEquals(List.of("established"), output.lines().toList());
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
