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
 * The reads of a socket that are not necessary, because the polling thread has just polled the shared receive queue, and so has
 * read the data of all its connections. Used by the thread that polls the connection's own completion queues.
 */
final class SavedReads {
    /** The number of polls that read nothing from the socket after each poll of the shared receive queue by the same thread. */
    private static final int MOST = 4;

    // Null if the connection has receives of its own; then nothing is saved.
    private final TcpSharedReceiveQueue shared;
    private long polls;
    private int saved;

    SavedReads(TcpSharedReceiveQueue shared) {
        this.shared = shared;
    }

    /** Returns whether the calling thread has just read the data of the socket. Called once in each poll of a member. */
    boolean hasJustRead() {
        if (!shared.isPolledBy(Thread.currentThread())) {
            return false;
        }
        if (polls != shared.polls()) {
            polls = shared.polls();
            saved = 0;
        }
        return saved++ < MOST;
    }
}
