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
package io.rpma.chaos.cases;

import io.rpma.chaos.Child;
import io.rpma.chaos.hostile.HostileMain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests which clients with few resources count as hostile. */
@Timeout(180)
class LimitsCaseTest {
    /** A port on which nobody listens. */
    private static final String NOBODY = "1";

    @TempDir
    private Path folder;

    private Child client(List<String> limits) throws IOException {
        return Child.start("client", limits, List.of("-cp", System.getProperty("java.class.path"), "-Dio.rpma.provider=tcp"),
            HostileMain.class, List.of("traffic", "1000", "1", "TCP", "tcp", "127.0.0.1", NOBODY, NOBODY, "-", "-"),
            folder.resolve("log"), line -> false);
    }

    @Test
    void aClientThatConnectsCountsAlsoIfItFails() throws Exception {
        try (Child client = client(List.of())) {
            assertTrue(LimitsCase.begins(client));
            assertNull(client.next(60_000));
        }
    }

    /** With this limit the virtual machine does not start. */
    @Test
    void aClientThatDoesNotStartDoesNotCount() throws Exception {
        try (Child client = client(List.of("prlimit", "--as=" + (16 << 20)))) {
            assertFalse(LimitsCase.begins(client));
        }
    }
}
