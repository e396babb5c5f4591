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
package io.rpma.soft.control;

import io.rpma.posix.Posix;

/**
 * A Unix socket that listens under a name of {@link SocketNames}, with the action that releases the name.
 *
 * @param fd the socket, non-blocking
 * @param name its name
 * @param release releases the name; called once, before the socket is closed
 */
public record ListeningSocket(int fd, String name, Runnable release) {
    /** Stops listening and releases the name. */
    public void close() {
        release.run();
        Posix.close(fd);
    }
}
