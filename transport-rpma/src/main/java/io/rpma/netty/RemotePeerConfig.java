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

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.PeerConfig;
import io.rpma.RpmaException;
import io.rpma.netty.pair.QueuePair;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.RejectedExecutionException;

/** Applies the description of a peer's platform to the connection of a channel. */
final class RemotePeerConfig {
    private RemotePeerConfig() {
    }

    /**
     * Applies a description on the event loop of the channel. Any thread.
     *
     * @param descriptor the description, which is not trusted
     * @return the future that {@link AbstractRpmaChannel#applyPeerConfig} returns
     */
    static ChannelFuture apply(AbstractRpmaChannel channel, ByteBuffer descriptor) {
        ByteBuffer copy = ByteBuffer.allocate(descriptor.remaining()).put(descriptor.duplicate()).flip();
        ChannelPromise promise = channel.newPromise();
        promise.setUncancellable();
        try {
            if (channel.eventLoop().inEventLoop()) {
                apply(channel, copy, promise);
            } else {
                channel.eventLoop().execute(() -> apply(channel, copy, promise));
            }
        } catch (IllegalStateException | RejectedExecutionException e) {
            // The channel was never registered, or its loop has ended, and could not notify the listeners.
            return new DefaultChannelPromise(channel, GlobalEventExecutor.INSTANCE).setFailure(e);
        }
        return promise;
    }

    private static void apply(AbstractRpmaChannel channel, ByteBuffer descriptor, ChannelPromise promise) {
        QueuePair current = channel.pair();
        if (!channel.isActive() || current == null || current.isClosed()) {
            promise.setFailure(channel.isOpen() ? new NotYetConnectedException() : new ClosedChannelException());
            return;
        }
        try (PeerConfig config = current.fabric.provider().peerConfigFromDescriptor(descriptor)) {
            current.connection.applyRemotePeerConfig(config);
        } catch (RpmaException | RuntimeException e) {
            promise.setFailure(e);
            return;
        }
        promise.setSuccess();
    }
}
