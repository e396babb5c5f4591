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
import io.netty.channel.ChannelOption;
import io.rpma.ConnectionRequest;
import io.rpma.netty.DeclaredOptions.Declared;

/**
 * The configuration of an {@link RpmaMessageChannel}: the {@link RpmaChannelOption}s that concern messages; the allocator,
 * which by default is {@link RpmaByteBufAllocator#DEFAULT}, so that buffers are sent without copying; and {@code SO_LINGER},
 * which bounds how long closing the channel waits until outstanding messages have been delivered (in seconds; negative, the
 * default, means 5; with 0 it does not wait). Thread-safe.
 */
public final class RpmaMessageChannelConfig extends AbstractRpmaChannelConfig {
    private static final DeclaredOptions OPTIONS = new DeclaredOptions();
    private static final MessageOptions.Declarations MESSAGES =
        new MessageOptions.Declarations(OPTIONS, ConnectionRequest.MAX_CONNECT_PRIVATE_DATA);
    private static final Declared<Integer> LINGER = OPTIONS.number(ChannelOption.SO_LINGER, -1);

    private final MessageOptions messages = new MessageOptions(MESSAGES, values);

    RpmaMessageChannelConfig(Channel channel, OptionOwner owner) {
        super(channel, owner, OPTIONS, false);
        setAllocator(RpmaByteBufAllocator.DEFAULT);
    }

    MessageOptions messages() {
        return messages;
    }

    int soLinger() {
        return values.get(LINGER);
    }
}
