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
    // Null while no loop uses the stream.
    private EventLoop loop;
    // Not null while memory is granted. It is scheduled on the loop that uses the stream, if there is one.
    private Check check;
    // When it is due, in terms of System.nanoTime().
    private long dueNanos;

    /** Prepares for a channel that has just been given its connection. */
    public IdleGrants(Channel channel, StreamSender sender) {
        this.channel = channel;
        this.sender = sender;
    }

    /** Called when the peer has granted memory and there was none before. */
    void granted() {
        if (check == null) {
            begin();
        }
    }

    /** Called on an event loop when that loop begins to use the stream. */
    void enter(EventLoop to) {
        loop = to;
        if (check != null) {
            // The check that is scheduled on the previous loop does nothing, or is lost because that loop has ended.
            schedule();
        }
    }

    /** Called on the event loop that used the stream, when the loop stops using it. */
    void leave() {
        loop = null;
    }

    private void begin() {
        dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS);
        schedule();
    }

    private void schedule() {
        check = new Check(loop);
        if (loop != null && channel.isOpen()) {
            loop.schedule(check, Math.max(0, dueNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }

    private final class Check implements Runnable {
        private final EventLoop mine;

        Check(EventLoop mine) {
            this.mine = mine;
        }

        @Override
        public void run() {
            if (loop != mine || check != this) {
                // The stream has left this loop since. Its next loop has a check of its own.
                return;
            }
            check = null;
            if (channel.isOpen() && sender.returnIdleGrants()) {
                begin();
            }
        }
    }
}
