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

package io.rpma.agent;

import java.net.SocketAddress;

/**
 * The purpose of the channel that this thread is creating.
 *
 * @param address the address to connect to or to listen on, or {@code null} if it is not known yet
 * @param isRemote whether the channel connects to the address, rather than listening on it
 */
public record Target(SocketAddress address, boolean isRemote) {
    /** The target of a channel that must not use RPMA, whatever its address is. */
    public static final Target TCP = new Target(new Excluded(), true);

    /** The target of a channel whose address is not known yet. */
    public static final Target UNKNOWN = new Target(null, true);

    private static final class Excluded extends SocketAddress {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            return "a name server";
        }
    }

    @Override
    public String toString() {
        return address == null ? "an address that is not known yet" : address.toString();
    }
}
