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

package io.rpma.netty;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Runs peers that send arbitrary data, each in a separate process, so that leaked resources can be counted. */
@Timeout(300)
class FuzzTest {
    private static ChildJvm start(Class<?> main, long seed, int count) throws Exception {
        List<String> options = new ArrayList<>(ChildJvm.ordinary());
        // Each refused client causes a warning.
        options.addAll(List.of("-ea", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        options.add("-Dio.rpma.netty.maxRegisteredBytes=" + (64 << 20));
        return new ChildJvm(options, main, "" + seed, "" + count);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void aStreamKeepsTheProtocolWhateverComes(long seed) throws Exception {
        try (ChildJvm child = start(StreamFuzz.class, seed, 30_000)) {
            child.await("PLAYED");
            assertEquals("0", child.await("LEFT"));
        }
    }

    @Test
    void aNeighbourNoticesNothing() throws Exception {
        try (ChildJvm child = start(ConnectionFuzz.class, 1, 200)) {
            child.await("NEIGHBOUR");
            child.await("PLAYED");
            int descriptors = Integer.parseInt(child.await("DESCRIPTORS"));
            // The limit is less than one descriptor per connection. Pools of memory that connections share over time are created
            // and released.
            assertTrue(descriptors < 16, () -> descriptors + " descriptors are left");
            assertEquals("0", child.await("LEFT"));
        }
    }
}
