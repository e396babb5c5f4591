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
import io.rpma.ConnectionRequest;
import io.rpma.netty.DeclaredOptions.Declared;

/**
 * The configuration of an {@link RpmaMessageServerChannel}: the {@link RpmaChannelOption}s with which its children are
 * accepted, and {@code SO_BACKLOG}, the number of accepted connections that may wait for {@code read()}. Thread-safe.
 */
public final class RpmaMessageServerChannelConfig extends AbstractRpmaChannelConfig {
    private static final DeclaredOptions OPTIONS = new DeclaredOptions();
    private static final MessageOptions.Declarations MESSAGES =
        new MessageOptions.Declarations(OPTIONS, ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA);
    private static final RequestOptions.Declarations REQUESTS = new RequestOptions.Declarations(OPTIONS);
    private static final Declared<Integer> BACKLOG = OPTIONS.backlog();

    private final MessageOptions messages = new MessageOptions(MESSAGES, values);
    private final RequestOptions requests = new RequestOptions(REQUESTS, values);

    RpmaMessageServerChannelConfig(Channel channel, OptionOwner owner) {
        super(channel, owner, OPTIONS, false);
    }

    MessageOptions messages() {
        return messages;
    }

    int backlog() {
        return values.get(BACKLOG);
    }

    RequestOptions requests() {
        return requests;
    }
}
