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
package io.rpma.tcp;

/**
 * Decides when the adapter's thread watches a socket whose send buffer is full. The owner of a connection often polls while it
 * has something to send. It then continues as soon as there is room, without the adapter's thread, whose wake-ups take processor
 * time. So the socket is watched when the owner is about to wait. If the owner stops polling before that, the adapter's thread
 * notices it, because the connection is on its list.
 *
 * <p>Used by the holder of the queue pair.
 */
final class RoomWatch {
    private boolean deferred;

    /**
     * Returns whether the adapter's thread has to watch the socket for room from now on. Called while the send buffer is full.
     *
     * @param isNew whether it was not full before
     * @param completions the queue that the owner polls for the completions of sends
     * @param waits whether this drive may be the last one before the owner waits
     */
    boolean isNeeded(boolean isNew, TcpCompletionQueue completions, boolean waits) {
        if (isNew && !waits && completions.isPromised()) {
            deferred = true;
            return false;
        }
        boolean needed = isNew || deferred && waits;
        deferred &= !needed;
        return needed;
    }
}
