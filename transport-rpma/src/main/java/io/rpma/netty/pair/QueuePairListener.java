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

package io.rpma.netty.pair;

/**
 * Notified of changes of the state of a {@link QueuePair}. Called at the end of a batch, so that a listener may close the queue
 * pair.
 */
public interface QueuePairListener {
    /** The connection is established, and the peer's private data is valid. */
    void established();

    /** Messages arrived, or the connection ended: {@link QueuePair#broken}. */
    void readable();

    /** Work requests can be posted again. */
    void writable();

    /**
     * Notifying this listener has failed: the listener must close the connection immediately. The failure has been logged.
     */
    void failed();

    /** A work request was posted that the listener has not requested; its completion is to be expected. */
    void posted();

    /**
     * The connection is about to break: either work was flushed and the event that gives the reason has not arrived, or the peer
     * has disconnected and the completions of what it has acknowledged have not arrived. A listener that has a timer, and no
     * other bound, calls {@link QueuePair#endIsOverdue()} after {@link QueuePair#overdueMillis()}.
     */
    void ending();
}
