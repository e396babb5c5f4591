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

package io.rpma.netty.connect;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.loop.RpmaIoHandle;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.EventDescriptors;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.receive.ReceiveBuffers;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A connection that was accepted only to send the client the reason of its refusal: librpma does not pass on the reason of a
 * rejection, and leaks an identifier for each. It is destroyed when the client has received the reason, or after a timeout.
 */
public final class RefusedConnection implements RpmaIoHandle {
    /** The number of refused connections that a server channel keeps at once; each has a queue pair and descriptors. */
    public static final int MAX_LINGERING = 64;

    private static final long MILLIS = 2_000;
    /** The largest number of completions that are handled for one client: more than its completion queue has entries. */
    private static final int MAX_COMPLETIONS = 8_192;

    private final Runnable destroy;
    private final Set<RefusedConnection> lingering;
    private Connection connection;
    private IoRegistration registration;
    private Future<?> timeout;

    private RefusedConnection(Connection connection, Runnable destroy, Set<RefusedConnection> lingering) {
        this.connection = connection;
        this.destroy = destroy;
        this.lingering = lingering;
    }

    /**
     * Watches a connection until it can be destroyed; called on the event loop.
     *
     * @param receives the receives that it was configured with; none has been posted for it
     * @param lingering the connections of the same server channel that have not been destroyed yet, oldest first. If there are
     *     {@value #MAX_LINGERING}, the oldest is destroyed, even if its client has not received the reason
     */
    public static void watch(Connection connection, ReceiveBuffers receives, Set<RefusedConnection> lingering, EventLoop loop) {
        watch(connection, () -> destroy(connection, receives), lingering, loop);
    }

    /**
     * Watches a connection of messages in the same way.
     *
     * @param pair closed in place of its connection; nothing is read from it
     */
    public static void watch(QueuePair pair, Set<RefusedConnection> lingering, EventLoop loop) {
        watch(pair.connection, pair::close, lingering, loop);
    }

    private static void watch(Connection connection, Runnable destroy, Set<RefusedConnection> lingering, EventLoop loop) {
        if (lingering.size() >= MAX_LINGERING) {
            lingering.iterator().next().end();
        }
        RefusedConnection refused = new RefusedConnection(connection, destroy, lingering);
        lingering.add(refused);
        ((IoEventLoop) loop).register(refused).addListener(future -> {
            if (!future.isSuccess()) {
                refused.end();
                return;
            }
            refused.registration = (IoRegistration) future.getNow();
            if (refused.connection == null) {
                // The connection was ended meanwhile, to make room for others.
                refused.registration.cancel();
                return;
            }
            refused.registration.submit(RpmaIoOps.OPEN);
            if (!loop.isShuttingDown()) {
                // While the loop shuts down no timer can be scheduled; destroy() ends the wait instead.
                refused.timeout = loop.schedule(refused::end, MILLIS, TimeUnit.MILLISECONDS);
            }
        });
    }

    private void end() {
        if (connection == null) {
            return;
        }
        lingering.remove(this);
        if (timeout != null) {
            timeout.cancel(false);
        }
        if (registration != null) {
            registration.cancel();
        }
        connection = null;
        destroy.run();
    }

    private static void destroy(Connection closing, ReceiveBuffers receives) {
        try {
            if (receives.isShared()) {
                giveBackReceives(closing, receives);
            }
        } catch (RpmaException | RuntimeException e) {
            // A client that sent although it was refused may have taken receives that can no longer be identified.
            receives.endedMidway();
        }
        try {
            closing.close();
        } catch (RpmaException e) {
            // The failure has no consequence: the connection is not used any more, and closing it again would do nothing.
            return;
        } finally {
            receives.leave(0);
        }
    }

    /**
     * Posts receives again that the client has taken by sending although it was refused: they belong to other connections as
     * well.
     */
    private static void giveBackReceives(Connection closing, ReceiveBuffers receives) throws RpmaException {
        closing.disconnectBeforeClose();
        WorkCompletions batch = new WorkCompletions(16);
        int taken = 0;
        for (int n = closing.completionQueue().poll(batch); n > 0; n = closing.completionQueue().poll(batch)) {
            for (int i = 0; i < n; i++) {
                receives.repost((int) batch.context(i));
            }
            taken += n;
            if (taken > MAX_COMPLETIONS) {
                // A client that continues to send must not block the loop.
                receives.endedMidway();
                return;
            }
        }
    }

    @Override
    public int[] eventFds(Runnable ready) {
        return EventDescriptors.of(connection, ready);
    }

    @Override
    public void eventsReady() {
        while (connection != null) {
            ConnectionEvent event;
            try {
                event = connection.nextEvent();
            } catch (RpmaException e) {
                event = ConnectionEvent.LOST;
            }
            if (event == null) {
                return;
            }
            // ESTABLISHED means that the client has received the answer; any other event means that it is gone.
            end();
        }
    }

    @Override
    public CompletionQueue completionQueue() {
        return null;
    }

    @Override
    public int poll(WorkCompletions batch) {
        return 0;
    }

    @Override
    public void close() {
        end();
    }

    @Override
    public void destroy() {
        end();
    }
}
