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
import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The calls of a provider that a stream makes for each message. They go through an {@link InliningBarrier}, so that the
 * transport and the provider are compiled separately: a method of a provider is compiled once, and not again with each method
 * of the transport that calls it.
 *
 * <p>Used by the event loop of the channel. The methods have the effects and the errors of those that they call.
 */
public final class ProviderCalls {
    private static final InliningBarrier POLL = new InliningBarrier(MethodHandles.lookup(), CompletionQueue.class,
        "pollWithoutEvent", MethodType.methodType(int.class, WorkCompletions.class));
    private static final InliningBarrier SEND_WITH_IMMEDIATE = new InliningBarrier(MethodHandles.lookup(), Connection.class,
        "sendWithImmediate", MethodType.methodType(void.class, LocalMemoryRegion.class, long.class, long.class,
            CompletionFlag.class, int.class, long.class));
    private static final InliningBarrier RECEIVE = new InliningBarrier(MethodHandles.lookup(), SharedReceiveQueue.class,
        "receive", MethodType.methodType(void.class, LocalMemoryRegion.class, long.class, long.class, long.class));

    private ProviderCalls() {
    }

    /** Polls a queue; see {@link CompletionQueue#pollWithoutEvent}. */
    public static int pollWithoutEvent(CompletionQueue queue, WorkCompletions batch) throws RpmaException {
        try {
            return (int) POLL.method().invokeExact(queue, batch);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
            return 0;
        }
    }

    /** Sends a message; see {@link Connection#sendWithImmediate}. */
    public static void sendWithImmediate(Connection connection, LocalMemoryRegion source, long offset, long length,
            CompletionFlag flag, int immediate, long context) throws RpmaException {
        try {
            SEND_WITH_IMMEDIATE.method().invokeExact(connection, source, offset, length, flag, immediate, context);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }

    /** Posts a receive; see {@link SharedReceiveQueue#receive}. */
    public static void receive(SharedReceiveQueue queue, LocalMemoryRegion target, long offset, long length, long context)
            throws RpmaException {
        try {
            RECEIVE.method().invokeExact(queue, target, offset, length, context);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }
}
