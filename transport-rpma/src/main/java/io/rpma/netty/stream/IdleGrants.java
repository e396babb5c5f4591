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

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;

/**
 * Returns the memory that a peer has granted for large data, when the stream has sent no large data for a while: the peer may
 * need the memory for other connections.
 *
 * <p>Used by the event loop of the channel, unless stated otherwise.
 */
public final class IdleGrants {
    /** Granted memory is returned after this time without large data, or up to twice as long. */
    private static final int IDLE_MILLIS = 1000;

    private final Channel channel;
    private final StreamSender sender;
    private boolean scheduled;

    public IdleGrants(Channel channel, StreamSender sender) {
        this.channel = channel;
        this.sender = sender;
    }

    /** Schedules a check whenever the peer has granted memory. Called before the channel uses the connection. */
    public void watch() {
        sender.whenGranted(this::schedule);
    }

    private void schedule() {
        if (!scheduled && channel.isOpen()) {
            scheduled = true;
            channel.eventLoop().schedule(this::check, IDLE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void check() {
        if (!channel.isRegistered()) {
            // No loop has the channel. Its next loop may begin to use the connection at any moment.
            scheduled = false;
            schedule();
            return;
        }
        EventLoop loop = channel.eventLoop();
        if (!loop.inEventLoop()) {
            // The channel has been registered with another loop since this was scheduled.
            loop.execute(this::check);
            return;
        }
        scheduled = false;
        if (channel.isOpen() && sender.returnIdleGrants()) {
            schedule();
        }
    }
}
