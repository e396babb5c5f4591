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

package io.rpma.netty.loop;

import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import java.util.ArrayList;

/**
 * The epoll set of an event loop, as this transport uses it: Netty's own epoll handler, and when it ran last. The
 * registrations of the loop have it as their attachment. Only the thread of the loop uses this class, so its fields need no lock.
 */
public final class EpollSet {
    /** If epoll has not run for this long, connections may have ended without the loop having noticed. */
    private static final long BEHIND_NANOS = 1_000_000;
    /** How long {@link #runBriefly} waits at most. */
    static final long BRIEF_NANOS = 1_000_000;

    private final IoHandler epoll;
    private final LoopTurn turn;
    private final PostedTasks posted;
    private final LimitedContext nonBlocking = new LimitedContext(0);
    private final LimitedContext brief = new LimitedContext(BRIEF_NANOS);
    private final LimitedContext afterTasks = new LimitedContext(0);
    // Registrations that were opened since epoll last ran. One that is closed before epoll runs again is never added to the
    // epoll set.
    private final ArrayList<RpmaRegistration> fresh = new ArrayList<>();
    /** When epoll ran last; set by the loop and by {@link #catchUp}. A test sets it to make a loop appear late or on time. */
    public long lastRunNanos;

    /**
     * Creates the set.
     *
     * @param epoll Netty's handler
     * @param turn counts what is handled
     * @param posted the tasks of other threads
     */
    public EpollSet(IoHandler epoll, LoopTurn turn, PostedTasks posted) {
        this.epoll = epoll;
        this.turn = turn;
        this.posted = posted;
    }

    /** Returns the tasks of other threads. */
    PostedTasks posted() {
        return posted;
    }

    /**
     * Returns whether a task or a handler has blocked this loop for so long that a connection may have ended unnoticed; called
     * on the event loop. Costs one reading of the clock.
     */
    public boolean isBehind() {
        return System.nanoTime() - lastRunNanos > BEHIND_NANOS;
    }

    /**
     * Handles the pending events of connections, without waiting, if epoll has not run for a long time; called on the event
     * loop during a turn. Otherwise each connection that is written to would have to check its own events.
     */
    public void catchUp() {
        if (nonBlocking.isSet() && isBehind()) {
            lastRunNanos = System.nanoTime();
            run(nonBlocking);
        }
    }

    /** Runs epoll without waiting, whatever the context of the turn allows. */
    public void runNow(IoHandlerContext context) {
        run(nonBlocking.of(context));
    }

    /** Runs epoll as {@link #run} does, but waits for {@link #BRIEF_NANOS} at most. */
    public void runBriefly(IoHandlerContext context) {
        run(brief.of(context));
    }

    /** Runs epoll, after it has added the descriptors of the registrations that were opened since it ran last. */
    public void run(IoHandlerContext context) {
        for (int i = 0; i < fresh.size(); i++) {
            fresh.get(i).watch();
        }
        fresh.clear();
        int late = posted.runRefused();
        // The handles of this transport are counted in DescriptorWatch.handle(); the others belong to epoll's own channels.
        turn.dispatched = 0;
        // A task may have made a queue hot, which has to be polled before the loop waits.
        int ready = epoll.run(late == 0 ? context : afterTasks.of(context));
        turn.active += late + ready - turn.dispatched;
    }

    /** Called when a registration was opened: its event descriptors are added to the epoll set when epoll has its turn. */
    void opened(RpmaRegistration registration) {
        fresh.add(registration);
    }

    /** Adds a descriptor of a registration to the epoll set. */
    DescriptorWatch newWatch(RpmaRegistration registration, int fd, boolean isEvents) {
        return new DescriptorWatch(epoll, turn, registration, fd, isEvents);
    }
}
