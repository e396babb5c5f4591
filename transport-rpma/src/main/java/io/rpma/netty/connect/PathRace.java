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
import io.netty.util.concurrent.Future;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.loop.EventLoops;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.pair.TransportLogger;
import io.rpma.netty.pair.UserTypes;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * Connects by the first of several paths that answers, in the way in which RFC 8305 does it for addresses. The best path is
 * tried first, the next one after that has failed or has not answered for a while, and the first connection that is established
 * is used. The other attempts are cancelled before a server's channel can be created for them. Used by one event loop.
 */
public final class PathRace {
    /** The time after which the next path is tried concurrently; RFC 8305's connection attempt delay. */
    public static final long HEAD_START_MILLIS = 250;

    private final Owner owner;
    private final List<RpmaProvider> candidates;
    private final InetSocketAddress remote;
    private final int timeoutMillis;
    private final UserTypes types;
    private final List<PathAttempt> running = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    // Why each path failed, in the order of the failures.
    private final Map<RpmaProvider, String> reasons = new LinkedHashMap<>();
    private EventLoop loop;
    private Future<?> headStart;
    private int next;
    private boolean over;
    // Whether the channel has tried the paths on another loop before.
    private boolean again;

    /** The channel that connects. Exactly one of {@link #won} and {@link #lost} is called, unless the race is cancelled. */
    public interface Owner {
        /** Returns a dialer for one path. */
        Dialer newDialer();

        /**
         * Takes over an established connection, which may have ended meanwhile. It is not watched any more.
         *
         * @param taken the provider of the connection
         * @param passedOver why each better path that was tried was not taken, best first; never modified
         */
        void won(QueuePair established, RpmaProvider taken, Map<RpmaProvider, String> passedOver);

        /** Called when every path has failed. */
        void lost(Throwable cause);
    }

    /**
     * Creates a race.
     *
     * @param types what the race needs of the public types
     * @param candidates the providers of the paths, best first, two or more
     * @param remote a resolved address
     * @param timeoutMillis how long each attempt may take
     */
    public PathRace(Owner owner, UserTypes types, List<RpmaProvider> candidates, InetSocketAddress remote, int timeoutMillis) {
        this.types = types;
        this.owner = owner;
        this.candidates = candidates;
        this.remote = remote;
        this.timeoutMillis = timeoutMillis;
    }

    /** Returns whether a loop tries the paths. */
    boolean isOn(EventLoop other) {
        return loop == other;
    }

    /** Tries the first path. */
    public void begin(EventLoop on) {
        loop = on;
        askNext();
    }

    /**
     * Tries the first path, in place of a race on the previous loop of the channel. Another thread may still compute the private
     * data for that race, and this loop must not wait for it, so other threads prepare each path.
     */
    void beginAgain(EventLoop on) {
        again = true;
        begin(on);
    }

    /** Returns whether the loop may prepare a path itself. */
    boolean mayPrepareOnLoop() {
        return !again;
    }

    private void askNext() {
        if (headStart != null) {
            headStart.cancel(false);
            headStart = null;
        }
        PathAttempt attempt = new PathAttempt(this, candidates.get(next++), loop);
        running.add(attempt);
        if (!failures.isEmpty() && isRefused(failures.getLast()) && attempt.provider().isRefused(remote)) {
            // Most likely no path has a listener. This is detected as fast as with a single path.
            failed(attempt, new ConnectException(ConnectFailure.REFUSED));
            return;
        }
        attempt.begin(owner.newDialer(), remote, timeoutMillis);
        // The head start begins when the peer can answer. What this loop has done until then, such as loading classes for the
        // first connection of a process, does not count. The attempt may have ended already. While the loop shuts down no timer
        // can be scheduled.
        if (next < candidates.size() && running.contains(attempt) && !loop.isShuttingDown()) {
            headStart = loop.schedule(this::askNext, HEAD_START_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Called when a connection is established. */
    void established(PathAttempt attempt, QueuePair pair) {
        Map<RpmaProvider, String> passedOver = passedOver(attempt);
        running.remove(attempt);
        stop();
        owner.won(pair, attempt.provider(), passedOver);
    }

    /** Returns why each tried path before the given one was not taken, or of all tried paths if it is {@code null}. */
    private Map<RpmaProvider, String> passedOver(PathAttempt taken) {
        RpmaProvider end = taken == null ? null : taken.provider();
        if (candidates.getFirst() == end) {
            return Map.of();
        }
        Map<RpmaProvider, String> reasonsInOrder = new LinkedHashMap<>();
        for (RpmaProvider candidate : candidates.subList(0, next)) {
            if (candidate == end) {
                break;
            }
            String reason = reasons.get(candidate);
            for (PathAttempt each : running) {
                if (each.provider() == candidate) {
                    reason = "no answer within " + each.millis() + " ms";
                }
            }
            if (reason != null) {
                reasonsInOrder.put(candidate, reason);
            }
        }
        return Collections.unmodifiableMap(reasonsInOrder);
    }

    /** Returns why each path that was tried was not taken, best first. */
    Map<RpmaProvider, String> passedOver() {
        return passedOver(null);
    }

    /** Called when a path has failed; everything that was created for it has been closed already. */
    void failed(PathAttempt attempt, Throwable cause) {
        running.remove(attempt);
        if (over) {
            return;
        }
        Throwable failure = cause instanceof RpmaException e ? ConnectFailure.prepare(e, remote) : cause;
        failures.add(failure);
        reasons.put(attempt.provider(), failure.getMessage());
        if (types.isRefusal(failure)) {
            // The application of the server has decided, and would decide in the same way on another path.
            stop();
            owner.lost(failure);
        } else if (next < candidates.size()) {
            askNext();
        } else if (running.isEmpty()) {
            stop();
            owner.lost(lost());
        }
    }

    /** Cancels every path that has not answered. Called on any event loop, because the channel may have left its first one. */
    public void cancel() {
        if (loop.inEventLoop()) {
            stop();
        } else if (!EventLoops.execute(loop, this::stop)) {
            // That loop has closed what was under way.
            TransportLogger.LOGGER.debug("The connection attempts to {} have ended with their loop.", remote);
        }
    }

    private void stop() {
        over = true;
        if (headStart != null) {
            headStart.cancel(false);
            headStart = null;
        }
        for (PathAttempt each : List.copyOf(running)) {
            each.cancel();
        }
        running.clear();
    }

    /** Returns the name of the path of a provider. */
    String path(RpmaProvider provider) {
        return types.path(provider);
    }

    /** Returns the failures of the paths so far, as the end of a message. */
    String reasons() {
        if (reasons.isEmpty()) {
            return "";
        }
        StringJoiner words = new StringJoiner("; ", " (", ")");
        reasons.forEach((provider, reason) -> words.add(path(provider) + ": " + reason));
        return words.toString();
    }

    private Throwable lost() {
        boolean refused = true;
        for (Throwable failure : failures) {
            refused &= isRefused(failure);
        }
        IOException lost = new ConnectException((refused ? ConnectFailure.REFUSED : "Connection failed") + " by every path"
            + reasons());
        failures.forEach(lost::addSuppressed);
        return lost;
    }

    private static boolean isRefused(Throwable failure) {
        return failure.getMessage() != null && failure.getMessage().startsWith(ConnectFailure.REFUSED);
    }
}
