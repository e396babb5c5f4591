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

import io.netty.channel.Channel;
import io.rpma.netty.memory.Fabric;

/** Finds the device of a channel. */
final class ChannelFabric {
    private ChannelFabric() {
    }

    /** Returns the fabric over which a channel of this transport is connected, or to which it is bound. */
    static Fabric of(Channel channel) {
        Fabric fabric = switch (channel) {
            case AbstractRpmaChannel connected -> connected.pair() == null ? null : connected.pair().fabric;
            case AbstractRpmaServerChannel bound -> bound.fabric();
            default -> throw new IllegalArgumentException("a channel of this transport is needed, not " + channel);
        };
        if (fabric == null) {
            throw new IllegalArgumentException(channel + " has never been connected or bound: its device is unknown");
        }
        return fabric;
    }
}
