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
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.connect.AcceptBackoff;
import io.rpma.netty.connect.LogLimit;
import io.rpma.netty.connect.PendingAccept;
import io.rpma.netty.pair.FailedOpening;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.TransportLogger;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;

/**
 * Accepts the clients of a server channel: it takes their requests from the endpoints while there is room in the backlog, and
 * makes a channel of each connection that is established. It pauses an endpoint while a resource for its connections is missing.
 * The other endpoints continue, because their providers may have the resource that one provider lacks, such as device memory.
 *
 * <p>Only the event loop of the server channel uses this class, so its fields need no lock. Connections must be accepted on the
 * thread that takes the requests: librpma mixes up the events of connections that are accepted on another one.
 */
final class Acceptor implements PendingAccept.Owner {
    private static final InternalLogger LOGGER = TransportLogger.LOGGER;
    /**
     * The number of requests that are handled at once, so that refused clients, however many there are, do not block the event
     * loop.
     */
    static final int MAX_REQUESTS = 128;

    private final Channel channel;
    private final Owner owner;
    private final Backlog backlog;
    private final RequestDecisions decisions;
    private final FirstChild first;
    // Runs while the backlog is full of clients that may still answer.
    private final LoopTimer roomTimer = new LoopTimer();
    private final AnswerTimer answerTimer;

    /** What the acceptor needs of its server channel. All methods are called on the event loop of the channel. */
    interface Owner extends ChildPreparation {
        /** Returns the endpoints; none before the channel is bound. */
        List<Listening> listening();

        /** Returns the options with the request handler, or {@code null} if all clients are accepted. */
        RequestOptions requests();

        /** Returns whether connections can be made better once it is known which loops the children are registered with. */
        boolean wantsChildLoops();

        /** Returns whether a child that is established now will be read without a further request of the application. */
        boolean wantsRead();

        /** Creates the channel of an established connection. */
        Channel newChild(QueuePair pair);

        /** Returns the limit for log messages about clients that are not accepted. */
        LogLimit refusals();

        /** Accepts the requests that are waiting, and passes the channels of established connections to the pipeline. */
        void eventsReady();

        /** Returns whether channels are being passed to the pipeline; {@link #acceptRest} is called when that is over. */
        boolean isReading();

        /** Called when a channel was added to the backlog: schedules a read if one is wanted. */
        void childAccepted();

        /**
         * Runs a task later, unless the channel has left this loop by then. After its next registration, {@link #eventsReady} is
         * called in any case.
         */
        void later(Runnable task);
    }

    /**
     * Creates the acceptor of a channel.
     *
     * @param channel the server channel
     * @param owner what the acceptor needs of the channel
     * @param tasks the tasks of other threads for the channel
     */
    Acceptor(Channel channel, Owner owner, Backlog backlog, LoopTasks tasks) {
        this.channel = channel;
        this.owner = owner;
        this.backlog = backlog;
        answerTimer = new AnswerTimer(backlog);
        decisions = new RequestDecisions(channel, owner.refusals(), backlog, this, tasks);
        first = new FirstChild(channel, this::takeWaiting);
    }

    // ---- taking requests ----

    /**
     * Accepts the pending requests of all endpoints. Requests that do not fit into the backlog wait in the kernel. If one
     * endpoint fails, the others have their turn nevertheless: its failure may last.
     *
     * @return the failure to fire through the pipeline, or {@code null}
     */
    Throwable acceptAll() {
        owner.listening().forEach(Listening::reported);
        return acceptRest();
    }

    /**
     * Accepts the requests that were left when there was no room in the backlog. Unlike {@link #acceptAll()}, this method does
     * not ask an endpoint that had no further request: its descriptor reports those that have arrived since.
     *
     * @return the failure to fire through the pipeline, or {@code null}
     */
    Throwable acceptRest() {
        Throwable failure = null;
        for (Listening from : owner.listening()) {
            Throwable next = from.mayHaveRequests() ? acceptAll(from) : null;
            if (failure == null) {
                failure = next;
            } else if (next != null && next != failure) {
                failure.addSuppressed(next);
            }
        }
        return failure;
    }

    private Throwable acceptAll(Listening from) {
        if (channel.isOpen() && from.isPaused()) {
            progress(from);
            return null;
        }
        for (int taken = 0; channel.isOpen() && !from.isPaused() && mayAccept(); taken++) {
            if (taken == MAX_REQUESTS) {
                // The descriptor does not signal the remaining requests again.
                acceptLater();
                return null;
            }
            try {
                prepare(from);
            } catch (RpmaException e) {
                return notPrepared(from, e);
            }
            ConnectionRequest request;
            try {
                request = from.nextRequest();
            } catch (RpmaException e) {
                long millis = notTaken(from, e);
                if (millis > 0) {
                    return pause(from, e, millis);
                }
                continue;
            }
            from.backoff().succeeded();
            if (request == null) {
                return null;
            }
            try {
                accept(from, request);
            } catch (RpmaException e) {
                return failed(from, request, e);
            }
        }
        return null;
    }

    private void prepare(Listening from) throws RpmaException {
        try {
            if (!from.isPrepared()) {
                from.prepare(owner.newNext(from.fabric(), false));
            }
        } catch (RuntimeException e) {
            throw unexpected(e);
        }
    }

    /**
     * Returns an unexpected exception as one that concerns a single client. Otherwise the event loop would close the listener,
     * and with it all clients to come.
     */
    private static RpmaException unexpected(RuntimeException e) {
        return new RpmaException(RpmaError.INVALID, 0, e.toString(), e);
    }

    /** Lets an endpoint that is paused serve the other endpoints. */
    private void progress(Listening paused) {
        try {
            paused.endpoint().progress();
        } catch (RpmaException e) {
            // When the pause is over, the next request fails for the same reason, and is reported if that lasts.
            LOGGER.debug("A paused endpoint of {} cannot make progress on behalf of the others.", channel, e);
        }
    }

    /** Accepts requests in a later task of the event loop. */
    void acceptLater() {
        owner.later(owner::eventsReady);
    }

    private void accept(Listening from, ConnectionRequest request) throws RpmaException {
        NextChild next = from.take();
        try {
            next.configured();
        } catch (RpmaException e) {
            next.release();
            FailedOpening.abandon(null, request, e);
            throw e;
        }
        try {
            accept(from, next, request);
        } catch (RuntimeException e) {
            throw unexpected(e);
        }
    }

    private void accept(Listening from, NextChild next, ConnectionRequest request) throws RpmaException {
        if (!backlog.hasRoom()) {
            backlog.giveUpSilentClients();
            if (!channel.isOpen()) {
                // A listener that was notified of one of these clients has closed the channel.
                next.reject(request);
                return;
            }
        }
        RequestOptions options = owner.requests();
        RpmaRequestHandler handler = options == null ? null : options.handler();
        if (handler != null) {
            Admission admission = next.admit(request);
            if (admission != null) {
                decisions.ask(handler, options.timeoutMillis(),
                    new RpmaConnectRequest(decisions, from, admission, request.remoteAddress()));
            }
            return;
        }
        QueuePair accepting = next.acceptBehindBarrier(request);
        if (accepting != null) {
            await(accepting, null);
        }
    }

    /**
     * Waits until a client has established the connection that was accepted.
     *
     * @param promise the promise for the application that decided about the client, or {@code null}
     */
    void await(QueuePair accepting, Promise<Channel> promise) {
        if (!channel.isOpen()) {
            // The application has closed this channel while it was asked for the private data.
            accepting.close();
            RequestDecisions.fail(promise, new ClosedChannelException());
            return;
        }
        PendingAccept unestablished = new PendingAccept(accepting, this, promise);
        backlog.addPending(unestablished);
        unestablished.watch(channel.eventLoop());
        answerTimer.start(channel.eventLoop());
    }

    // ---- room in the backlog, and the loops of the children ----

    /** Returns whether there is room in the backlog, or can be made by closing a client that does not answer. */
    private boolean mayAccept() {
        if (first.isAwaited(backlog.hasConnections(), owner.wantsChildLoops() && owner.wantsRead())) {
            return false;
        }
        long nanos = backlog.nanosUntilRoom();
        if (nanos == 0) {
            return true;
        }
        if (nanos != Backlog.NOT_KNOWN) {
            roomTimer.start(channel.eventLoop(), nanos, owner::eventsReady);
        }
        return false;
    }

    /** Accepts the requests that have waited for the first child. */
    private void takeWaiting() {
        if (!owner.isReading()) {
            // If a read is in progress, it accepts requests when it has finished.
            owner.eventsReady();
        }
    }

    /** Called when a child was passed to the pipeline: it is registered by now, or it is unknown when it will be. */
    void childRead() {
        first.end();
    }

    /**
     * Called when the group of the children is known: drops what was prepared for the next child, because it was not made
     * for one of the group's loops.
     */
    void childLoopsKnown() {
        if (!channel.isOpen()) {
            return;
        }
        for (Listening each : owner.listening()) {
            try {
                each.dropNext();
            } catch (RpmaException e) {
                LOGGER.warn("The configuration of a connection to {} could not be deleted.", channel.localAddress(), e);
            }
        }
        first.end();
        takeWaiting();
    }

    // ---- failures ----

    /** Handles that no further connection can be configured. Returns the failure to fire, or {@code null}. */
    private Throwable notPrepared(Listening from, RpmaException e) {
        if (AcceptBackoff.isShortage(e)) {
            return pause(from, e, AcceptBackoff.PAUSE_MILLIS);
        }
        if (owner.refusals().admits()) {
            LOGGER.warn("A connection to {} could not be accepted.", channel.localAddress(), e);
        }
        return rejectNext(from, e);
    }

    /**
     * Handles that the request of one client failed, usually because the client is gone. The next request may succeed.
     *
     * @return how long to pause, in milliseconds; 0 to continue with the next request
     */
    private long notTaken(Listening from, RpmaException e) {
        LOGGER.debug("A connection request to {} failed.", channel.localAddress(), e);
        long millis = from.backoff().failed(e);
        if (!AcceptBackoff.isShortage(e)) {
            RpmaMetrics.accepts().addFailed();
        }
        return millis;
    }

    /** Handles a request that was taken and could not be accepted. */
    private Throwable failed(Listening from, ConnectionRequest request, RpmaException e) {
        RpmaMetrics.accepts().addFailed();
        if (AcceptBackoff.isShortage(e)) {
            return pause(from, e, AcceptBackoff.PAUSE_MILLIS);
        }
        // The next request may succeed, and the descriptor does not signal it again.
        acceptLater();
        if (AcceptBackoff.isClientGone(e)) {
            LOGGER.debug("The connection of {} to {} could not be accepted.", request.remoteAddress(), channel.localAddress(),
                e);
            return null;
        }
        if (owner.refusals().admits()) {
            LOGGER.warn("The connection of {} to {} could not be accepted.", request.remoteAddress(), channel.localAddress(),
                e);
        }
        return e;
    }

    /**
     * Rejects the next request, because no further connection can be configured: its client must be notified instead of
     * waiting.
     */
    private Throwable rejectNext(Listening from, RpmaException why) {
        try {
            ConnectionRequest request = from.endpoint().nextConnectionRequest(null);
            if (request != null) {
                RpmaMetrics.accepts().addFailed();
                request.close();
                acceptLater();
            }
        } catch (RpmaException e) {
            why.addSuppressed(e);
            pause(from, e, AcceptBackoff.PAUSE_MILLIS);
        }
        return why;
    }

    /** Pauses an endpoint if a decision about its client could not be carried out because of a shortage. */
    void pauseIfShort(Listening from, Exception e) {
        if (channel.isOpen() && e instanceof RpmaException failure && AcceptBackoff.isShortage(failure) && !from.isPaused()) {
            Throwable shortage = pause(from, failure, AcceptBackoff.PAUSE_MILLIS);
            if (shortage != null) {
                channel.pipeline().fireExceptionCaught(shortage);
            }
        }
    }

    /**
     * Takes no requests from an endpoint for a while, because every attempt would fail. The requests wait where they are.
     *
     * @return the failure to fire through the pipeline, or {@code null}
     */
    private Throwable pause(Listening from, RpmaException why, long millis) {
        EventLoop loop = channel.eventLoop();
        if (loop.isShuttingDown()) {
            return why;
        }
        from.pause(loop, millis, owner::eventsReady);
        if (millis < AcceptBackoff.PAUSE_MILLIS) {
            return null;
        }
        RpmaMetrics.accepts().addPause();
        if (!from.backoff().mayReport(System.nanoTime())) {
            return null;
        }
        LOGGER.warn("{} cannot accept connections by the path {} at present and tries again every {} ms. Clients wait"
            + " meanwhile. If file descriptors are missing, raise their limit (ulimit -n), or LimitNOFILE of the systemd"
            + " service.", channel, RpmaPath.of(from.fabric().provider()), millis, why);
        return why;
    }

    /**
     * Called when the channel leaves its event loop: cancels the timers, and stops watching the connections in the backlog, so
     * that this loop does not use them together with the next one.
     */
    void leave() {
        backlog.pending().forEach(PendingAccept::unwatch);
        backlog.accepted().forEach(WaitingChild::unwatch);
        backlog.deadlines().forEach(DecisionDeadline::stop);
        owner.listening().forEach(Listening::cancelPause);
        roomTimer.stop();
        answerTimer.stop();
        first.leave();
    }

    /** Called when the channel has been registered with an event loop. */
    void enter() {
        for (PendingAccept unestablished : backlog.pending()) {
            unestablished.watch(channel.eventLoop());
        }
        for (WaitingChild waiting : backlog.accepted()) {
            waiting.watch(channel.eventLoop());
        }
        for (DecisionDeadline deadline : backlog.deadlines()) {
            deadline.start(channel.eventLoop());
        }
        answerTimer.start(channel.eventLoop());
    }

    // ---- connections that have been accepted ----

    @Override
    public void established(PendingAccept accepting, QueuePair pair) {
        backlog.removePending(accepting);
        RpmaMetrics.accepts().addEstablished();
        Channel child = owner.newChild(pair);
        if (accepting.promise() != null) {
            // Complete the promise before the pipeline of the child is created, so that listeners can set attributes of the
            // child.
            accepting.promise().trySuccess(child);
            if (!channel.isOpen()) {
                // A listener has closed this channel, so the child would never be read.
                child.unsafe().closeForcibly();
                return;
            }
        }
        WaitingChild waiting = new WaitingChild(child, pair);
        backlog.addAccepted(waiting);
        waiting.watch(channel.eventLoop());
        owner.childAccepted();
    }

    @Override
    public void failed(PendingAccept accepting, String why) {
        backlog.removePending(accepting);
        LOGGER.debug("A connection to {} was not established: {}.", channel.localAddress(), why);
        RequestDecisions.fail(accepting.promise(), new IOException("the connection was not established: " + why));
        if (channel.isOpen()) {
            RpmaMetrics.accepts().addUnanswered();
            // There is room in the backlog again, and the descriptor does not signal requests again that arrived meanwhile.
            acceptLater();
        }
    }

    /** Closes everything in the backlog, because the channel has been closed. */
    void close() {
        answerTimer.stop();
        for (PendingAccept unfinished : backlog.pending()) {
            unfinished.close();
        }
        for (RpmaConnectRequest request : backlog.undecided()) {
            decisions.closed(request);
        }
        for (Channel child = backlog.pollAccepted(); child != null; child = backlog.pollAccepted()) {
            child.unsafe().closeForcibly();
        }
    }
}
