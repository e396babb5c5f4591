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
package io.rpma.netty.stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;

/** The memory in which large data is received. */
public final class AreasInUse {
    private AreasInUse() {
    }

    /** Waits until all of this memory has been released. */
    public static void awaitNone() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (BulkAreas.bytes() > 0) {
            assertTrue(System.nanoTime() - deadline < 0, () -> BulkAreas.bytes() + " bytes are still held for large data");
            // No event reports this: the memory is released when the peer has been idle for a while.
            Thread.sleep(20);
        }
    }
}
