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

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that examples use the paths that the options leave, and print the provider of the path that they use. */
@Timeout(240)
class ProviderLineTest {
    private static final long PATIENCE_SECONDS = 230;

    private static String provider(String paths, String... arguments) throws Exception {
        List<String> command = ExampleJvm.command(List.of(arguments));
        // The last option of a name counts. The command already contains the provider of these tests.
        command.addAll(command.indexOf("-cp"), List.of("-Dio.rpma.provider=auto", "-Dio.rpma.netty.paths=" + paths));
        try (ExampleRun run = new ExampleRun(command, PATIENCE_SECONDS)) {
            return run.ended(0).has("provider=.*");
        }
    }

    /** The server is a process of its own, which must have the path that the options leave. */
    @ParameterizedTest
    @ValueSource(strings = {"echo --bytes=1KiB --round-trips=1", "remote-log --records=1", "memory-cache --keys=1 --gets=1"})
    void theServerProcessHasThePathThatIsLeft(String words) throws Exception {
        assertEquals("provider=tcp", provider("tcp", words.split(" ")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"websocket --messages=1", "grpc --calls=1 --large=1KiB", "tcp-proxy --requests=1"})
    void theProviderIsThatOfTheConnections(String words) throws Exception {
        assertEquals("provider=tcp", provider("tcp", words.split(" ")));
        // The examples connect to a loopback address, where a server listens by shared memory even if there is a device.
        assertEquals("provider=soft", provider("shared-memory,rdma,tcp", words.split(" ")));
    }
}
