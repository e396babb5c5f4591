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

/** The descriptors that an event loop watches for the events of a connection. */
public final class EventDescriptors {
    private static final int[] NONE = {};

    private EventDescriptors() {
    }

    /**
     * Returns the descriptors to watch now, at most one.
     *
     * @param ready is run when there are events that no descriptor signals; see {@link Connection#eventFd(Runnable)}
     */
    public static int[] of(Connection connection, Runnable ready) {
        int fd = connection.eventFd(ready);
        return fd == Connection.NO_DESCRIPTOR ? NONE : new int[] {fd};
    }
}
