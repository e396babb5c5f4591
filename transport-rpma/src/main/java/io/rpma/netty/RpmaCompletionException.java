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

import io.rpma.CompletionStatus;
import java.io.IOException;

/**
 * Thrown if a work request was posted and did not succeed ({@code ibv_wc_status}). It is the cause with which the request's
 * promise fails; the connection ends with it.
 */
public final class RpmaCompletionException extends IOException {
    private final CompletionStatus status;

    RpmaCompletionException(CompletionStatus status, String message) {
        super(message);
        this.status = status;
    }

    /**
     * Creates the exception for a send or a one-sided operation that failed, with the most likely cause of the status in its
     * message.
     *
     * @param what the work request, in words
     */
    static RpmaCompletionException of(String what, CompletionStatus status) {
        return new RpmaCompletionException(status, "Connection reset: " + what + " failed: " + status.text() + likely(status));
    }

    private static String likely(CompletionStatus status) {
        return switch (status) {
            case REM_ACCESS_ERR -> "; the peer's region does not match its descriptor, is no longer registered, or belongs to"
                + " another peer";
            case REM_INV_REQ_ERR, REM_OP_ERR -> "; was the message longer than the peer's receive buffer"
                + " (RPMA_PEER_RECEIVE_BUFFER_BYTES limits what is sent)?";
            case RETRY_EXC_ERR -> "; the peer does not answer any more";
            default -> "";
        };
    }

    /** Returns the status with which the device completed the work request. */
    public CompletionStatus status() {
        return status;
    }
}
