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
 * What has changed for a stream since its listener was notified. The state before is recorded when the first completion of a
 * batch is handled, so that the listener is notified once for all of them.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class StreamChanges {
    private final StreamSender sender;
    private final StreamReceiver receiver;
    private boolean pending;
    private int unreadBefore;
    private boolean endBefore;
    private boolean brokenBefore;
    private boolean blockedBefore;
    private boolean fullBefore;
    // Whether the listener has been notified that the peer has confirmed the end of the stream.
    private boolean confirmationTold;

    StreamChanges(StreamSender sender, StreamReceiver receiver) {
        this.sender = sender;
        this.receiver = receiver;
    }

    /** Returns whether completions have been handled, or are about to be, and the listener has not been notified. */
    boolean arePending() {
        return pending;
    }

    /**
     * Records the state before a completion is handled.
     *
     * @param broken whether the connection has ended
     * @return whether nothing was pending before
     */
    boolean begin(boolean broken) {
        boolean first = !pending;
        if (first) {
            pending = true;
            unreadBefore = receiver.unread();
            endBefore = receiver.isEndOfStream();
            brokenBefore = broken;
            blockedBefore = false;
            fullBefore = false;
        }
        // Updated on each call: something may have been sent since the first.
        blockedBefore |= sender.messageLimit() == 0;
        fullBefore |= !sender.canPost();
        return first;
    }

    /** Called before the listener is notified, or if there is nothing to notify it of. */
    void end() {
        pending = false;
    }

    /** Returns whether there is something new to read, or the connection has ended. */
    boolean concernReading(boolean broken) {
        return receiver.unread() != unreadBefore || receiver.isEndOfStream() != endBefore || broken && !brokenBefore;
    }

    /** Returns whether the peer has confirmed the end of the stream since the last call. */
    boolean takeConfirmation() {
        boolean confirmed = sender.isEndConfirmed() && !confirmationTold;
        confirmationTold = sender.isEndConfirmed();
        return confirmed;
    }

    /** Returns whether something can be sent that could not be sent before. */
    boolean unblockSending() {
        return blockedBefore && sender.messageLimit() > 0 || fullBefore && sender.canPost();
    }
}
