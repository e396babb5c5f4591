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

import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;

/** An attempt to open a connection that has failed. */
public final class FailedOpening {
    private FailedOpening() {
    }

    /**
     * Closes what an attempt to open a connection has created.
     *
     * @param made the connection, or {@code null}
     * @param request the request from which it was to be made
     * @param why the reason; if closing fails as well, that failure is added to it
     */
    public static void abandon(Connection made, ConnectionRequest request, Exception why) {
        try {
            if (made != null) {
                made.close();
            }
        } catch (RpmaException | RuntimeException e) {
            why.addSuppressed(e);
        }
        try {
            request.close();
        } catch (RpmaException | RuntimeException e) {
            why.addSuppressed(e);
        }
    }
}
