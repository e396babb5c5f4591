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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TwoHostsTest {
    @Test
    void areJoinedByAWireAndGoneAfterwards() throws Exception {
        ProcessHandle first;
        ProcessHandle second;
        try (TwoHosts hosts = open()) {
            first = ProcessHandle.of(hosts.pid(true)).orElseThrow();
            for (boolean server : new boolean[] {true, false}) {
                List<String> command = new ArrayList<>(hosts.prefix(server));
                command.addAll(List.of("ip", "-o", "route", "get", server ? "10.99.0.2" : TwoHosts.SERVER));
                Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
                String route = new String(process.getInputStream().readAllBytes());
                assertEquals(0, process.waitFor(), route);
                assertTrue(route.contains(" dev wire "), route);
            }
            second = ProcessHandle.of(hosts.pid(false)).orElseThrow();
        }
        first.onExit().get(30, TimeUnit.SECONDS);
        second.onExit().get(30, TimeUnit.SECONDS);
    }

    private static TwoHosts open() throws InterruptedException {
        try {
            return new TwoHosts();
        } catch (IOException e) {
            return abort(e.getMessage());
        }
    }
}
