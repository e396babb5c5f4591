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

package io.rpma.netty.pair;

import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Calls of a queue pair that handle the events of its connection, and that close it. They go through an
 * {@link InliningBarrier}, like the other steps in the life of a connection, so that each step is compiled once. Otherwise C2
 * would inline the steps into one another and into the event loop, and a process that makes many short connections would take
 * longer to reach its full rate.
 *
 * <p>Used by the event loop of the channel. The methods have the effects of those that they call.
 */
public final class QueuePairCalls {
    private static final InliningBarrier DRAIN_EVENTS = new InliningBarrier(MethodHandles.lookup(), QueuePair.class,
        "drainEvents", MethodType.methodType(void.class));
    private static final InliningBarrier CLOSE = new InliningBarrier(MethodHandles.lookup(), QueuePair.class, "close",
        MethodType.methodType(void.class));

    private QueuePairCalls() {
    }

    /** Handles the events of a connection; see {@link QueuePair#drainEvents}. */
    public static void drainEvents(QueuePair pair) {
        try {
            DRAIN_EVENTS.method().invokeExact(pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Destroys a queue pair; see {@link QueuePair#close}. */
    public static void close(QueuePair pair) {
        try {
            CLOSE.method().invokeExact(pair);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }
}
