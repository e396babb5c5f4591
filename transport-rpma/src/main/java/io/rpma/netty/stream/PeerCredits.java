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

/**
 * The credits that one end of a stream has given to its peer: one for each posted receive of data. The peer spends one for each
 * message, and gets it back when the receive has been posted again.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class PeerCredits {
    private final int total;
    // How many credits the peer holds, as far as its messages show.
    private int held;
    private int returnable;

    PeerCredits(int total) {
        this.total = total;
        held = total;
    }

    /** Called when the peer has sent a message that takes a credit. Returns whether the peer had one. */
    boolean spend() {
        return --held >= 0;
    }

    /** Called when so many receives have been posted again. */
    void add(int credits) {
        returnable += credits;
    }

    /** Returns whether so many credits can be returned that the peer may be waiting for them. */
    boolean areDue() {
        return returnable >= halfOf(total);
    }

    /** Takes the credits that the next message returns to the peer. */
    int take() {
        int n = returnable;
        returnable = 0;
        held += n;
        return n;
    }

    /** Returns the number of credits, of so many, from which on they may be returned in a message of their own. */
    static int halfOf(int credits) {
        return credits + 1 >>> 1;
    }
}
