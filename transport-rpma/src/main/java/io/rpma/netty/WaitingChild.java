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

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.rpma.CompletionQueue;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.BacklogMessages;
import io.rpma.netty.pair.QueuePair;

/**
 * A channel in the backlog of a server channel. Its connection is established, and nothing happens on it before the channel is
 * registered, with one exception: if its messages hold receives that other connections need, the event loop of the server channel
 * takes them out of these receives.
 *
 * <p>Used by the event loop of the server channel, with which it moves to another one.
 */
final class WaitingChild implements RpmaIoHandle {
    private static final int[] NO_DESCRIPTORS = {};

    private final Channel channel;
    private final QueuePair pair;
    // Null if the messages hold no receives that others need.
    private final BacklogMessages messages;
    // Null while no loop takes the messages.
    private EventLoop watching;
    private IoRegistration registration;

    WaitingChild(Channel channel, QueuePair pair) {
        this.channel = channel;
        this.pair = pair;
        messages = pair.inBacklog();
    }

    /** Begins to take the messages, if that is necessary. */
    void watch(EventLoop loop) {
        if (messages == null || pair.isClosed()) {
            return;
        }
        watching = loop;
        ((IoEventLoop) loop).register(this).addListener(future -> {
            if (!future.isSuccess()) {
                // The loop ends, and closes the server channel with its backlog.
                return;
            }
            IoRegistration made = (IoRegistration) future.getNow();
            if (watching != loop || registration != null) {
                // Netty defers a listener if its stack is deep. The channel has left the backlog, or the loop, meanwhile.
                made.cancel();
                return;
            }
            registration = made;
            made.submit(RpmaIoOps.OPEN);
        });
    }

    /** Stops taking the messages. */
    void unwatch() {
        watching = null;
        if (registration != null) {
            registration.cancel();
            registration = null;
        }
    }

    /** Returns the channel, which leaves the backlog. */
    Channel leave() {
        unwatch();
        return channel;
    }

    @Override
    public boolean hasEvents() {
        return false;
    }

    @Override
    public int[] eventFds(Runnable ready) {
        return NO_DESCRIPTORS;
    }

    @Override
    public void eventsReady() {
        // The channel handles the events of its connection when it is registered.
    }

    @Override
    public CompletionQueue completionQueue() {
        return pair.completionQueue();
    }

    @Override
    public boolean awaitsCompletions() {
        return !pair.isClosed();
    }

    @Override
    public int poll(WorkCompletions batch) {
        return messages.take(batch);
    }

    @Override
    public void close() {
        unwatch();
        channel.unsafe().closeForcibly();
    }

    @Override
    public void destroy() {
        close();
    }

    @Override
    public String toString() {
        return "the backlog's " + pair;
    }
}
