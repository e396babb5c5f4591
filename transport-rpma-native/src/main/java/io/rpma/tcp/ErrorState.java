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

import io.rpma.CompletionStatus;

/**
 * The error state of a queue pair, which its parts ask for and enter. In the error state, all work requests and receives are
 * flushed, also those posted later.
 *
 * <p>{@link QueuePair} alone implements it, so that the JVM inlines its methods. The thread that holds the queue pair calls them.
 */
interface ErrorState {
    /** Returns whether the queue pair is in the error state. */
    boolean isError();

    /**
     * Enters the error state.
     *
     * @param culprit the work request that completes with the status; all others that have not completed are flushed
     */
    void fail(long culprit, CompletionStatus status);

    /** Refuses a request of the peer, and enters the error state. */
    void refuse(long request, CompletionStatus answer);

    /** Ends the connection after a violation of the protocol by the peer. */
    void violated(String what);

    /** Ends the connection at once. */
    void breakOff();
}
