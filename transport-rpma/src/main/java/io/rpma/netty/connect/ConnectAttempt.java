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

import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.UserTypes;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One attempt of a channel to connect, from the call of {@code connect} until its promise has a result. With one path, the
 * blocking part of connecting is run at once if it does not block for this address, and otherwise on a thread of the
 * {@link Connector}; several paths are tried by a {@link PathRace}.
 *
 * <p>Used by the event loop of the channel, unless stated otherwise.
 */
public final class ConnectAttempt implements PathRace.Owner {
    private static final Runnable NOTHING = () -> { };

    private final Owner owner;
    private final UserTypes types;
    private final InetSocketAddress address;
    private final Choice choice;
    // Null once the attempt has ended.
    private ChannelPromise promise;
    private int timeoutMillis;
    private Future<?> timeout;
    // In terms of System.nanoTime(); meaningful if there is a timeout.
    private long deadline;
    // Not null while another thread is to perform, or performs, the blocking part of connecting.
    private HostExecutor.Task preparing;
    // Not null while several paths are being tried.
    private PathRace race;
    // What an event loop that has ended did not accept, while no other loop had the channel.
    private final Queue<Passed> refused = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    /**
     * A task for the loop of the channel.
     *
     * @param task runs on that loop
     * @param otherwise releases what the task would have used; runs on any thread if the attempt has ended
     */
    private record Passed(Runnable task, Runnable otherwise) {
    }

    /** The channel that connects. */
    public interface Owner {
        EventLoop eventLoop();

        /** Returns whether the channel is open. */
        boolean isOpen();

        /** Returns a dialer with the current options. */
        Dialer newDialer();

        /** Takes over a connection that is being established. */
        void dialled(QueuePair connecting);

        /** Takes over a connection that is established, or has been and has ended since. */
        void connected(QueuePair established);

        /** Called when there is no connection: fails the promise and closes the channel. */
        void notConnected(Throwable cause);

        /** Called when a connection that is not needed could not be released. */
        void exceptionCaught(Throwable cause);
    }

    /** The paths that a connection may take, and why each was not taken. */
    public interface Choice {
        /** Returns the providers to be tried, best first, at least one. */
        List<RpmaProvider> candidates();

        /**
         * Called when one of several paths has won.
         *
         * @param taken the provider of the connection
         * @param passedOver why each better path that was tried was not taken
         */
        void won(RpmaProvider taken, InetSocketAddress remote, Map<RpmaProvider, String> passedOver);

        /**
         * Called when no connection was made.
         *
         * @param reasons why each path that was tried was not taken
         */
        void failed(Map<RpmaProvider, String> reasons);
    }

    /**
     * Creates an attempt.
     *
     * @param types what the attempt needs of the public types
     * @param address a resolved address with a port
     * @param choice the paths that it may take
     */
    public ConnectAttempt(Owner owner, UserTypes types, ChannelPromise promise, InetSocketAddress address, Choice choice) {
        this.types = types;
        this.owner = owner;
        this.promise = promise;
        this.address = address;
        this.choice = choice;
    }

    /** Returns the address that the application has asked for. */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Begins to connect.
     *
     * @param millis how long it may take; 0 for no limit
     */
    public void begin(int millis) {
        timeoutMillis = millis;
        if (millis > 0) {
            deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            startTimeout();
        }
        List<RpmaProvider> candidates = choice.candidates();
        InetSocketAddress nameless = SocketAddresses.withoutName(address);
        int patience = millis > 0 ? millis : Integer.MAX_VALUE;
        if (candidates.size() == 1) {
            prepare(candidates.getFirst(), nameless, patience);
        } else {
            race = new PathRace(this, types, candidates, nameless, patience);
            race.begin(owner.eventLoop());
        }
    }

    private void startTimeout() {
        timeout = owner.eventLoop().schedule(this::timedOut, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    /** Called when the channel has been registered with another event loop: its previous one may have ended. */
    public void enter() {
        if (timeout != null) {
            timeout.cancel(false);
            startTimeout();
        }
        if (race != null && !race.isOn(owner.eventLoop())) {
            // The loop that has tried the paths until now may end before one has answered.
            race.cancel();
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            int patience = timeoutMillis > 0 ? (int) Math.max(1, left) : Integer.MAX_VALUE;
            race = new PathRace(this, types, choice.candidates(), SocketAddresses.withoutName(address), patience);
            race.beginAgain(owner.eventLoop());
        }
        passRefused();
    }

    private void timedOut() {
        if (!owner.eventLoop().inEventLoop()) {
            // The channel has been registered with another loop meanwhile.
            pass(this::timedOut, NOTHING);
            return;
        }
        if (promise != null) {
            Throwable cause = new ConnectTimeoutException("connection timed out after " + timeoutMillis + " ms: " + address
                + (race != null && race.isOn(owner.eventLoop()) ? race.reasons() : ""));
            end(cause, reasons(cause));
        }
    }

    /** Returns why each path that was tried was not taken. */
    private Map<RpmaProvider, String> reasons(Throwable cause) {
        if (race == null) {
            return Map.of(choice.candidates().getFirst(), String.valueOf(cause.getMessage()));
        }
        return race.isOn(owner.eventLoop()) ? race.passedOver() : Map.of();
    }

    /**
     * Fails the attempt and closes the channel. The provider has the same time as the attempt: if both end in the same turn of
     * the loop, the timeout is the reason.
     */
    public void fail(Throwable cause) {
        if (timeoutMillis > 0 && System.nanoTime() - deadline >= 0) {
            timedOut();
        } else {
            end(cause, reasons(cause));
        }
    }

    private void end(Throwable cause, Map<RpmaProvider, String> reasons) {
        choice.failed(reasons);
        owner.notConnected(cause);
    }

    /**
     * Ends the attempt: what is under way for it is cancelled.
     *
     * @return its promise, or {@code null} if it has ended before
     */
    public ChannelPromise end() {
        ChannelPromise last = promise;
        promise = null;
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
        if (preparing != null) {
            preparing.cancel();
            preparing = null;
        }
        if (race != null) {
            race.cancel();
            race = null;
        }
        ended = true;
        passRefused();
        return last;
    }

    // ---- one path ----

    private void prepare(RpmaProvider provider, InetSocketAddress nameless, int patience) {
        Dialer dialer = owner.newDialer();
        Connector.Prepared atOnce;
        try {
            atOnce = Connector.tryPrepare(provider, nameless, dialer, patience);
        } catch (Throwable e) {
            prepared(null, e);
            return;
        }
        if (atOnce != null) {
            prepared(atOnce, null);
            return;
        }
        try {
            preparing = Connector.execute(provider, nameless, dialer, patience, this::hand);
        } catch (RejectedExecutionException e) {
            prepared(null, new ConnectException(e.getMessage()));
        }
    }

    /** Passes the result of the blocking part to the event loop; called on another thread. */
    private void hand(Connector.Prepared prepared, Throwable failure) {
        pass(() -> prepared(prepared, failure), () -> drop(prepared));
    }

    private void drop(Connector.Prepared prepared) {
        if (prepared != null) {
            try {
                prepared.drop();
            } catch (RpmaException e) {
                owner.exceptionCaught(e);
            }
        }
    }

    private void prepared(Connector.Prepared prepared, Throwable failure) {
        if (!owner.eventLoop().inEventLoop()) {
            // The channel has been registered with another loop meanwhile.
            hand(prepared, failure);
            return;
        }
        preparing = null;
        if (promise == null || !owner.isOpen()) {
            drop(prepared);
            return;
        }
        if (failure != null) {
            fail(failure instanceof RpmaException e ? ConnectFailure.prepare(e, address) : failure);
            return;
        }
        try {
            owner.dialled(prepared.connect(address));
        } catch (RpmaException e) {
            fail(ConnectFailure.prepare(e, address));
        } catch (Throwable e) {
            fail(e);
        }
    }

    // ---- several paths ----

    @Override
    public Dialer newDialer() {
        return owner.newDialer();
    }

    @Override
    public void won(QueuePair established, RpmaProvider taken, Map<RpmaProvider, String> passedOver) {
        if (!owner.eventLoop().inEventLoop()) {
            // The channel has been registered with another loop meanwhile.
            if (!EventLoops.execute(owner.eventLoop(), () -> won(established, taken, passedOver))) {
                // That loop has ended. No loop watches the connection, so it cannot wait for the next one, which tries the
                // paths again.
                established.close();
            }
            return;
        }
        if (race != null) {
            // It is another one if the channel was registered with this loop when the connection was established.
            race.cancel();
            race = null;
        }
        choice.won(taken, address, passedOver);
        if (promise == null || !owner.isOpen()) {
            established.close();
            return;
        }
        owner.connected(established);
    }

    @Override
    public void lost(Throwable cause) {
        if (!owner.eventLoop().inEventLoop()) {
            pass(() -> lost(cause), NOTHING);
            return;
        }
        if (promise != null) {
            fail(cause);
        }
    }

    // ---- one loop after another ----

    /**
     * Passes a task to the loop of the channel. If that loop has ended after the channel had left it, the next loop runs the
     * task. Any thread.
     */
    private void pass(Runnable task, Runnable otherwise) {
        EventLoop loop = owner.eventLoop();
        if (!EventLoops.execute(loop, task)) {
            refused.add(new Passed(task, otherwise));
            if (ended || owner.eventLoop() != loop) {
                // The attempt has ended, or another loop has the channel, and may not have seen this task.
                passRefused();
            }
        }
    }

    private void passRefused() {
        for (Passed next = refused.poll(); next != null; next = refused.poll()) {
            if (ended) {
                next.otherwise.run();
            } else {
                pass(next.task, next.otherwise);
            }
        }
    }
}
