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
package io.rpma.software;

import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;

/** librpma's texts for errors and events. */
public final class Words {
    private Words() {
    }

    /** Returns the text for an error ({@code rpma_err_2str}). */
    public static String of(RpmaError error) {
        return switch (error) {
            case UNKNOWN -> "Unknown error";
            case NOT_SUPPORTED -> "Not supported";
            case PROVIDER -> "Provider error occurred";
            case NO_MEMORY -> "Out of memory";
            case INVALID -> "Invalid argument";
            case NO_COMPLETION -> "No next completion available";
            case NO_EVENT -> "No next event available";
            case AGAIN -> "Temporary error";
            case SHARED_CHANNEL -> "The completion channel is shared and cannot be handled by any particular CQ";
            case NOT_SHARED_CHANNEL -> "The completion channel is not shared";
        };
    }

    /** Returns the text for an event ({@code rpma_utils_conn_event_2str}). */
    public static String of(ConnectionEvent event) {
        return switch (event) {
            case UNDEFINED -> "Undefined connection event";
            case ESTABLISHED -> "Connection established";
            case CLOSED -> "Connection closed";
            case LOST -> "Connection lost";
            case REJECTED -> "Connection rejected";
            case UNREACHABLE -> "Connection unreachable";
        };
    }
}
