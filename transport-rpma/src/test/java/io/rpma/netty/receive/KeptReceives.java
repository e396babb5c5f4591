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
package io.rpma.netty.receive;

import java.util.Objects;
import java.util.stream.IntStream;

/** The registered memory of shared receive queues that belong to no loop, and that are kept while they have no connection. */
public final class KeptReceives {
    private KeptReceives() {
    }

    /** Returns whether all queues that have not been destroyed belong to no loop. */
    public static boolean haveNoLoop() {
        return QueueGroup.live().stream().allMatch(each -> each.completions() == null);
    }

    /** Returns the number of bytes of their receives. */
    public static long bytes() {
        return QueueGroup.live().stream().filter(each -> each.completions() == null).mapToLong(KeptReceives::bytes).sum();
    }

    private static long bytes(SharedReceives receives) {
        return IntStream.range(0, receives.most()).mapToObj(receives::buffer).filter(Objects::nonNull)
            .mapToLong(buf -> buf.block().bytes()).sum();
    }
}
