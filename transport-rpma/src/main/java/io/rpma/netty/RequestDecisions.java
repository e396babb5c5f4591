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
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.rpma.RpmaException;
import io.rpma.netty.connect.LogLimit;
import io.rpma.netty.pair.TransportLogger;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;

/**
 * The decisions of the application about the clients of a server channel ({@link RpmaRequestHandler}). This class asks for each
 * decision, ends the wait for it after its deadline, and carries it out.
 *
 * <p>{@link #ask} and {@link #closed} are called on the event loop of the server channel, and the fields are used there alone.
 * The methods of {@link RpmaConnectRequest.Owner} may be called on any thread; they pass the decision to the event loop.
 */
final class RequestDecisions implements RpmaConnectRequest.Owner {
    private static final InternalLogger LOGGER = TransportLogger.LOGGER;
    /** The reason that is sent to a client if the application did not decide about it. */
    private static final byte[] UNDECIDED = "the server could not decide".getBytes(StandardCharsets.US_ASCII);

    private final Channel channel;
    private final LogLimit refusals;
    private final Backlog backlog;
    private final Acceptor acceptor;
    private final LoopTasks tasks;
    // True while a handler is called; the next request is handled after it returns.
    private boolean asking;

    /** The application's decision about a client. */
    private interface Decision {
        void carryOut(Admission admission) throws RpmaException;
    }

    /**
     * Creates an object that has no request yet.
     *
     * @param channel the server channel
     * @param refusals the limit for log messages about clients that are not accepted
     * @param backlog where a request has its place until it is decided
     * @param acceptor takes over the connections that are accepted
     * @param tasks the tasks of other threads for the channel
     */
    RequestDecisions(Channel channel, LogLimit refusals, Backlog backlog, Acceptor acceptor, LoopTasks tasks) {
        this.channel = channel;
        this.refusals = refusals;
        this.backlog = backlog;
        this.acceptor = acceptor;
        this.tasks = tasks;
    }

    /** Asks the application for a decision, now or later; the request counts against the backlog until then. */
    void ask(RpmaRequestHandler handler, int timeoutMillis, RpmaConnectRequest request) {
        DecisionDeadline deadline = new DecisionDeadline(timeoutMillis, () -> overdue(request, timeoutMillis));
        deadline.start(channel.eventLoop());
        backlog.addUndecided(request, deadline);
        asking = true;
        try {
            handler.requested(request);
        } catch (Throwable t) {
            if (request.decide("refused, because its handler failed")) {
                refuse(request, UNDECIDED);
            }
            channel.pipeline().fireExceptionCaught(t);
        } finally {
            asking = false;
        }
    }

    private void overdue(RpmaConnectRequest request, int timeoutMillis) {
        if (request.decide("refused, because it was not decided within " + timeoutMillis + " ms")) {
            if (refusals.admits()) {
                LOGGER.warn("The connection of {} to {} is refused, because the RPMA_REQUEST_HANDLER did not decide within"
                    + " {} ms (RPMA_REQUEST_TIMEOUT_MILLIS).", request.remoteAddress(), channel.localAddress(), timeoutMillis);
            }
            refuse(request, UNDECIDED);
        }
    }

    /** Rejects a request because the channel is being closed, so that the client is notified. */
    void closed(RpmaConnectRequest request) {
        request.decide("rejected, because the server channel was closed");
        carryOutHere(request, admission -> admission.reject(), null);
    }

    @Override
    public Channel serverChannel() {
        return channel;
    }

    @Override
    public Promise<Channel> newPromise() {
        Promise<Channel> promise = new DefaultPromise<>() {
            @Override
            protected EventExecutor executor() {
                // The channel may be registered with another loop when the client has established the connection.
                return channel.eventLoop();
            }
        };
        promise.setUncancellable();
        return promise;
    }

    @Override
    public void accept(RpmaConnectRequest request, ByteBuffer privateData, Promise<Channel> promise) {
        carryOut(request, admission -> acceptor.await(admission.accept(privateData), promise), promise);
    }

    @Override
    public void refuse(RpmaConnectRequest request, byte[] reason) {
        carryOut(request, admission -> {
            RpmaMetrics.accepts().addRefused();
            if (reason == null) {
                admission.reject();
            } else {
                admission.refuse(reason);
            }
        }, null);
    }

    /** Carries out a decision on the event loop, unless the channel has been closed. */
    private void carryOut(RpmaConnectRequest request, Decision decision, Promise<Channel> promise) {
        tasks.run(() -> carryOutHere(request, decision, promise));
    }

    private void carryOutHere(RpmaConnectRequest request, Decision decision, Promise<Channel> promise) {
        if (!backlog.removeUndecided(request)) {
            fail(promise, new ClosedChannelException());
            return;
        }
        try {
            decision.carryOut(request.admission());
        } catch (RpmaException | RuntimeException e) {
            RpmaMetrics.accepts().addFailed();
            LOGGER.debug("The decision about {} could not be carried out.", request, e);
            fail(promise, e);
            acceptor.pauseIfShort(request.from(), e);
        }
        if (!asking && channel.isOpen() && backlog.hasRoom()) {
            // There is room in the backlog, and the descriptor does not signal requests again that arrived meanwhile.
            acceptor.acceptLater();
        }
    }

    /** Fails the promise for the application, if there is one. */
    static void fail(Promise<Channel> promise, Throwable failure) {
        if (promise != null) {
            promise.tryFailure(failure);
        }
    }
}
