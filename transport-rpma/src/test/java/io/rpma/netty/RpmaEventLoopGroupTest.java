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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how many threads a group has. The threads do not start, because nothing is registered. */
@Timeout(60)
class RpmaEventLoopGroupTest {
    private static final String DEFAULT_PROPERTY = "io.netty.eventLoopThreads";

    private static int threads(RpmaEventLoopGroup group) {
        try {
            return group.executorCount();
        } finally {
            group.close();
        }
    }

    @Test
    void aLoopHasAProcessorOfItsOwn() {
        int processors = NettyRuntime.availableProcessors();
        assertEquals(processors, threads(new RpmaEventLoopGroup()));
        assertEquals(processors, threads(new RpmaEventLoopGroup(0)));
        assertEquals(processors, threads(new RpmaEventLoopGroup(0, RpmaPolling.BLOCK)));
        assertEquals(processors, threads(new RpmaEventLoopGroup(new DefaultThreadFactory("rpma"))));
        assertEquals(processors, threads(new RpmaEventLoopGroup(0, new DefaultThreadFactory("rpma"), RpmaPolling.SPIN)));
    }

    @Test
    void theApplicationChoosesAnotherNumber() {
        assertEquals(3, threads(new RpmaEventLoopGroup(3)));
        assertEquals(5, threads(new RpmaEventLoopGroup(5, new DefaultThreadFactory("rpma"))));
        assertThrows(IllegalArgumentException.class, () -> new RpmaEventLoopGroup(-1));
    }

    @Test
    void nettysPropertyChoosesTheDefault() {
        String before = System.setProperty(DEFAULT_PROPERTY, "7");
        try {
            assertEquals(7, threads(new RpmaEventLoopGroup()));
            assertEquals(3, threads(new RpmaEventLoopGroup(3)));
        } finally {
            if (before == null) {
                System.clearProperty(DEFAULT_PROPERTY);
            } else {
                System.setProperty(DEFAULT_PROPERTY, before);
            }
        }
    }
}
