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

import io.rpma.ConnectionEvent;

/** The messages for users about the events that end a connection, except the one that the peer causes by closing its end. */
final class EndReasons {
    private EndReasons() {
    }

    /** Returns the message about an event. */
    static String of(ConnectionEvent event) {
        return switch (event) {
            case LOST -> "Connection reset: the connection was lost, or the device was removed";
            case REJECTED -> "Connection refused";
            case UNREACHABLE -> "Host is unreachable";
            default -> "Connection ended by the event " + event;
        };
    }
}
