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

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.rpma.netty.RpmaAcceptCounters;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaLoopCounters;
import io.rpma.netty.RpmaMetrics;
import io.rpma.netty.RpmaPath;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Registers the counters of the process, {@link RpmaMetrics}, as meters:
 *
 * <pre>{@code new RpmaMetricsBinder().bindTo(registry);}</pre>
 *
 * <p>The meters cause no additional measurements. They read counters that exist anyway, and calculate sums when they are read.
 * Meters for each connection would be too many for most registries, so {@link RpmaChannelMetricsBinder} registers them for
 * selected connections only.
 */
public final class RpmaMetricsBinder implements MeterBinder {
    private final Tags tags;

    /** Creates a binder of meters that have no additional tags. */
    public RpmaMetricsBinder() {
        this(Tags.empty());
    }

    /**
     * Creates a binder.
     *
     * @param tags the tags of every meter
     */
    public RpmaMetricsBinder(Tags tags) {
        this.tags = tags;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        new CounterMeters<>(registry, "rpma.", tags, RpmaMetrics.class, ignored -> RpmaMetrics.channels()).register();
        Gauge.builder("rpma.channels", RpmaMetrics::openChannels).tags(tags).description("connections").register(registry);
        for (RpmaPath path : RpmaPath.values()) {
            FunctionCounter.builder("rpma.connections", path, RpmaMetrics::established).tags(tags).tag("path", path.toString())
                .description("connections established, by path").register(registry);
        }
        Gauge.builder("rpma.memory", RpmaByteBufAllocator.DEFAULT::registeredBytes).tags(tags).tag("state", "registered")
            .baseUnit("bytes").register(registry);
        Gauge.builder("rpma.memory", RpmaByteBufAllocator.DEFAULT::usedBytes).tags(tags).tag("state", "used").baseUnit("bytes")
            .register(registry);
        // The memory of the next three is also included in the used memory.
        Gauge.builder("rpma.memory.cached", RpmaByteBufAllocator.DEFAULT::cachedBytes).tags(tags).baseUnit("bytes")
            .description("free buffers that are kept ready for all threads").register(registry);
        Gauge.builder("rpma.memory.limbo", RpmaMetrics::limboBytes).tags(tags).baseUnit("bytes")
            .description("closed, and a stopped process may still write to it").register(registry);
        Gauge.builder("rpma.memory.receives.surplus", RpmaMetrics::surplusReceiveBytes).tags(tags).baseUnit("bytes")
            .description("shared receives that no open connection needs").register(registry);
        loops(registry, "rpma.loop.turns", RpmaLoopCounters::turns);
        loops(registry, "rpma.loop.blocks", RpmaLoopCounters::blocks);
        loops(registry, "rpma.loop.spins", RpmaLoopCounters::spins);
        loops(registry, "rpma.loop.spins.paid", RpmaLoopCounters::spinsPaid);
        loops(registry, "rpma.loop.yields", RpmaLoopCounters::yields);
        loops(registry, "rpma.loop.pauses", RpmaLoopCounters::pauses);
        loops(registry, "rpma.loop.completions", RpmaLoopCounters::completions);
        accepts(registry, "rpma.accepts", tags.and("result", "established"), RpmaAcceptCounters::established);
        accepts(registry, "rpma.accepts", tags.and("result", "refused"), RpmaAcceptCounters::refused);
        accepts(registry, "rpma.accepts", tags.and("result", "failed"), RpmaAcceptCounters::failed);
        accepts(registry, "rpma.accepts", tags.and("result", "unanswered"), RpmaAcceptCounters::unanswered);
        accepts(registry, "rpma.accept.pauses", tags, RpmaAcceptCounters::pauses);
        Gauge.builder("rpma.loops", () -> RpmaMetrics.loops().size()).tags(tags).description("event loops").register(registry);
    }

    private static void accepts(MeterRegistry registry, String name, Tags all, ToDoubleFunction<RpmaAcceptCounters> value) {
        FunctionCounter.builder(name, RpmaMetrics.accepts(), value).tags(all).register(registry);
    }

    // Registers the sum over all event loops, both running and ended. The number of event loops changes, so a meter for each one
    // would have to be added and removed.
    private void loops(MeterRegistry registry, String name, ToLongFunction<RpmaLoopCounters> value) {
        FunctionCounter.builder(name, RpmaMetrics.class,
            ignored -> value.applyAsLong(RpmaMetrics.loopTotals())).tags(tags).register(registry);
    }
}
