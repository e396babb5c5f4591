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
import io.netty.channel.DefaultChannelConfig;
import io.rpma.netty.DeclaredOptions.Declared;
import java.util.Map;

/**
 * The base class of all configurations of this transport. It lists, reads and sets the options that a subclass declares, beside
 * those that all channels of Netty have.
 */
abstract class AbstractRpmaChannelConfig extends DefaultChannelConfig {
    final OptionValues values;
    private final OptionOwner owner;
    private final boolean isStream;

    /**
     * Creates a configuration whose options have their defaults.
     *
     * @param options the options of its kind of channel
     * @param isStream whether the channel carries or accepts streams; otherwise it carries or accepts messages
     */
    AbstractRpmaChannelConfig(Channel channel, OptionOwner owner, DeclaredOptions options, boolean isStream) {
        super(channel);
        values = new OptionValues(options);
        this.owner = owner;
        this.isStream = isStream;
    }

    @Override
    protected final void autoReadCleared() {
        owner.clearReadPending();
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), values.declared().options());
    }

    @Override
    public <T> T getOption(ChannelOption<T> option) {
        Declared<T> declared = values.declared().find(option);
        return declared != null ? values.get(declared) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        boolean known = values.set(option, value) || super.setOption(option, value);
        WithoutEffect.check(owner, isStream, option, values);
        return known;
    }
}
