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

package io.rpma.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.netty.channel.Channel;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelCounters;
import io.rpma.netty.RpmaMessageChannel;
import java.util.List;
import java.util.function.Function;

/**
 * Registers the counters of one connection as meters. Their names are {@code rpma.channel.…}, and their tag {@code channel} is
 * the long identifier of the channel ({@link io.netty.channel.ChannelId#asLongText()}), which is unique. It ends with the short
 * identifier, which is part of log messages, but which two channels may have in common. The meters are removed from the registry
 * when the channel is closed.
 *
 * <pre>{@code new RpmaChannelMetricsBinder(channel, Tags.of("peer", "orders")).bindTo(registry);}</pre>
 *
 * <p>Each connection adds about forty meters, so this class is intended for a few important connections, or for all connections
 * while a problem is investigated. {@link RpmaMetricsBinder} registers the sums of all connections.
 */
public final class RpmaChannelMetricsBinder implements MeterBinder {
    private final Channel channel;
    private final Function<Channel, RpmaChannelCounters> counters;
    private final Tags tags;

    /**
     * Creates a binder for a stream channel.
     *
     * @param channel the channel; it need not be connected yet
     * @param tags the tags of the meters in addition to {@code channel}
     */
    public RpmaChannelMetricsBinder(RpmaChannel channel, Tags tags) {
        this(channel, each -> ((RpmaChannel) each).counters(), tags);
    }

    /**
     * Creates a binder for a message channel.
     *
     * @param channel the channel; it need not be connected yet
     * @param tags the tags of the meters in addition to {@code channel}
     */
    public RpmaChannelMetricsBinder(RpmaMessageChannel channel, Tags tags) {
        this(channel, each -> ((RpmaMessageChannel) each).counters(), tags);
    }

    private RpmaChannelMetricsBinder(Channel channel, Function<Channel, RpmaChannelCounters> counters, Tags tags) {
        this.channel = channel;
        this.counters = counters;
        this.tags = tags.and("channel", channel.id().asLongText());
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        List<Meter> meters = new CounterMeters<>(registry, "rpma.channel.", tags, channel, counters).register();
        meters.add(Gauge.builder("rpma.channel.receives.low", channel, each -> counters.apply(each).receivesLowWater()).tags(tags)
            .baseUnit("receives").description("the fewest receives that were ever free; 0: the peer has waited for this end")
            .register(registry));
        channel.closeFuture().addListener(closed -> meters.forEach(registry::remove));
    }
}
