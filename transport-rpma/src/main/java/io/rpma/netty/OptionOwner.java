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

import java.util.Set;

/** What a configuration needs of its channel. The methods may be called by any thread. */
interface OptionOwner {
    boolean isServer();

    /** Returns whether the channel has begun to connect, or is bound. */
    boolean hasBegun();

    /**
     * Returns the warnings that were logged about options without effect on a server channel and its children, or {@code null}
     * if the channel is a client.
     */
    Set<String> warnings();

    /** Called when auto-read was turned off: clears the read request that auto-read caused. */
    void clearReadPending();
}
