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
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.loop.RpmaIoOps;
import io.rpma.netty.pair.TransportLogger;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** A connection attempt by one path of a {@link PathRace}, until it is established or has failed. Used by one event loop. */
final class PathAttempt extends AwaitedConnection {
    private final PathRace race;
    private final RpmaProvider provider;
    private final EventLoop loop;
    private final long began = System.nanoTime();
    private HostExecutor.Task preparing;

    PathAttempt(PathRace race, RpmaProvider provider, EventLoop loop) {
        this.race = race;
        this.provider = provider;
        this.loop = loop;
    }

    RpmaProvider provider() {
        return provider;
    }

    /** Returns the number of milliseconds since the attempt began. */
    long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    }

    /** Starts the attempt. */
    void begin(Dialer dialer, InetSocketAddress remote, int timeoutMillis) {
        try {
            Connector.Prepared atOnce =
                race.mayPrepareOnLoop() ? Connector.tryPrepare(provider, remote, dialer, timeoutMillis) : null;
            if (atOnce != null) {
                prepared(atOnce, null, remote);
                return;
            }
            preparing = Connector.execute(provider, remote, dialer, timeoutMillis, (prepared, failure) -> {
                if (!EventLoops.execute(loop, () -> prepared(prepared, failure, remote))) {
                    // The loop has ended meanwhile. If the channel has left it before, the next loop tries the paths again.
                    drop(prepared);
                }
            });
        } catch (RejectedExecutionException e) {
            fail(new ConnectException(e.getMessage()));
        } catch (Throwable e) {
            fail(e);
        }
    }

    private static void drop(Connector.Prepared prepared) {
        if (prepared != null) {
            try {
                prepared.drop();
            } catch (RpmaException e) {
                TransportLogger.LOGGER.debug("A connection request could not be cancelled.", e);
            }
        }
    }

    private void prepared(Connector.Prepared prepared, Throwable failure, InetSocketAddress remote) {
        preparing = null;
        if (done) {
            drop(prepared);
            return;
        }
        if (failure != null) {
            fail(failure);
            return;
        }
        try {
            pair = prepared.connect(remote);
        } catch (RpmaException | RuntimeException e) {
            fail(e);
            return;
        }
        pair.listener(this);
        ((IoEventLoop) loop).register(this).addListener(future -> {
            if (!future.isSuccess()) {
                fail(future.cause());
                return;
            }
            registration = (IoRegistration) future.getNow();
            if (done) {
                registration.cancel();
            } else {
                registration.submit(RpmaIoOps.OPEN);
            }
        });
    }

    /** Cancels the attempt, because another path was faster or the connection is not wanted any more. */
    void cancel() {
        if (!done) {
            release();
            abandon();
        }
    }

    private void release() {
        done = true;
        if (preparing != null) {
            preparing.cancel();
            preparing = null;
        }
        if (registration != null) {
            registration.cancel();
            registration = null;
        }
    }

    private void abandon() {
        if (pair != null) {
            Connector.abandon(pair);
            pair = null;
        }
    }

    private void fail(Throwable cause) {
        if (!done) {
            release();
            abandon();
            race.failed(this, cause);
        }
    }

    @Override
    void connectionEstablished() {
        release();
        race.established(this, pair);
    }

    @Override
    void connectionBroken() {
        fail(ConnectFailure.event(pair.types, pair.terminal(), pair.broken(), pair.remoteAddress()));
    }

    @Override
    public void failed() {
        fail(new ConnectException("the connection could not be watched"));
    }

    @Override
    public void close() {
        // The loop shuts down. That says nothing about the path. If the channel has left the loop, the next one tries the paths
        // again.
        race.cancel();
    }

    @Override
    public String toString() {
        return "connecting by " + race.path(provider);
    }
}
