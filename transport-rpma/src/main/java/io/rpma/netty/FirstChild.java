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
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The wait for the first child of a server channel. Requests wait until it is registered with its loop, which determines the
 * loops that the other children are made for. This happens once in the life of the channel, for a limited time.
 *
 * <p>Only the event loop of the server channel uses this class, so its fields need no lock.
 */
final class FirstChild {
    /** How long requests wait while the first child is accepted, passed to the pipeline and registered. Tests wait longer. */
    static volatile long waitMillis = 1_000;

    private final Channel channel;
    private final Runnable whenOver;
    // Not null while requests wait.
    private Future<?> timer;
    private boolean over;

    /**
     * Creates a wait that has not begun.
     *
     * @param channel the server channel
     * @param whenOver called when the wait has ended because of its time limit
     */
    FirstChild(Channel channel, Runnable whenOver) {
        this.channel = channel;
        this.whenOver = whenOver;
    }

    /**
     * Returns whether further requests have to wait.
     *
     * @param hasChild whether the first client has been accepted
     * @param worthIt whether connections can be made better once it is known which loops the children are registered with, and
     *     the channel reads the first child by itself; if not, nobody ever waits
     */
    boolean isAwaited(boolean hasChild, boolean worthIt) {
        if (over || !hasChild) {
            return false;
        }
        if (!worthIt || channel.eventLoop().isShuttingDown()) {
            over = true;
            return false;
        }
        if (timer == null) {
            timer = channel.eventLoop().schedule(() -> {
                end();
                whenOver.run();
            }, waitMillis, TimeUnit.MILLISECONDS);
        }
        return true;
    }

    /** Called when the child is registered, or it is unknown when it will be: nobody waits any more. */
    void end() {
        over = true;
        leave();
    }

    /** Cancels the timer, because the channel leaves its event loop. If requests still wait after that, a new one is started. */
    void leave() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
