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
 * What the channel that is being made on this thread is for.
 *
 * @param address the address to connect to or to listen on, or {@code null} if it is not known yet
 * @param isRemote whether it is one to connect to
 */
public record Target(SocketAddress address, boolean isRemote) {
    /** Of a channel that must not go over RPMA, whatever its address. */
    public static final Target TCP = new Target(new Excluded(), true);

    /** Of a channel whose address is not known yet. */
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
