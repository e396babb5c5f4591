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

package io.rpma.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rpma.agent.programs.NettyEcho;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests Netty's own bootstraps with each way to select a transport. */
class PlainNettyTest {
    private static final long BYTES = 4L << 20;

    @ParameterizedTest
    @CsvSource({"nio, class", "nio, reference", "nio, reflection", "legacy-nio, class", "epoll, class", "epoll, reference",
        "legacy-epoll, class", "uring, class"})
    void swapsTransport(String transport, String how) throws Exception {
        Program.Output plain = Program.plain().run(NettyEcho.class, transport, how);
        // The kernel, or the rules of a container, may not allow io_uring.
        assumeTrue(!transport.equals("uring") || plain.exitCode() == 0, "io_uring is not available");
        assertEquals(0, plain.exitCode(), plain.text());
        assertEquals(0, plain.carried(), plain.text());
        Program.Output swapped = Program.withAgent("report").run(NettyEcho.class, transport, how);
        assertEquals(0, swapped.exitCode(), swapped.text());
        assertEquals(plain.result(), swapped.result());
        assertTrue(swapped.carried() >= BYTES, swapped.text());
        assertTrue(swapped.text().contains("channels: RpmaServerChannel, RpmaChannel"), swapped.text());
    }
}
