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

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.jit.InliningBarrier;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Removes entries that have been sent from the outbound buffer of a channel. If the channel is not writable, the removal may make
 * it writable, and Netty then calls the application's handlers before the removal returns. Such a removal goes through an {@link
 * InliningBarrier}.
 *
 * <p>Used by the event loop of the channel.
 */
public final class SentEntries {
    private static final InliningBarrier REMOVE =
        new InliningBarrier(MethodHandles.lookup(), ChannelOutboundBuffer.class, "remove", MethodType.methodType(boolean.class));
    private static final InliningBarrier REMOVE_BYTES = new InliningBarrier(MethodHandles.lookup(), ChannelOutboundBuffer.class,
        "removeBytes", MethodType.methodType(void.class, long.class));

    private SentEntries() {
    }

    /** Removes the first entry. Its promise succeeds. */
    public static void remove(ChannelOutboundBuffer in) {
        if (in.isWritable()) {
            in.remove();
            return;
        }
        try {
            boolean ignored = (boolean) REMOVE.method().invokeExact(in);
        } catch (Throwable e) {
            // It is unchecked, because the method declares no exception.
            PlatformDependent.throwException(e);
        }
    }

    /** Removes this many bytes of the buffers at the head. The promise of each buffer that is removed entirely succeeds. */
    public static void removeBytes(ChannelOutboundBuffer in, long bytes) {
        if (in.isWritable()) {
            in.removeBytes(bytes);
            return;
        }
        try {
            REMOVE_BYTES.method().invokeExact(in, bytes);
        } catch (Throwable e) {
            PlatformDependent.throwException(e);
        }
    }
}
