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
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.rpma.CompletionStatus;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannelCounters;
import io.rpma.netty.RpmaLoopCounters;
import io.rpma.netty.RpmaMetrics;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * The counters of the process, {@link RpmaMetrics}, as meters:
 *
 * <pre>{@code new RpmaMetricsBinder().bindTo(registry);}</pre>
 *
 * <p>Nothing is measured that is not counted anyway; a meter adds up when it is read. A meter of each connection would be one too
 * many for most registries: {@code RpmaChannel.counters()} has what a single one did.
 */
public final class RpmaMetricsBinder implements MeterBinder {
    private final Tags tags;

    /** Creates a binder of meters without tags of their own. */
    public RpmaMetricsBinder() {
        this(Tags.empty());
    }

    /**
     * Creates a binder.
     *
     * @param tags what every meter is tagged with
     */
    public RpmaMetricsBinder(Tags tags) {
        this.tags = tags;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        counter(registry, "rpma.bytes", Tags.of("direction", "sent"), "bytes", RpmaChannelCounters::bytesSent);
        counter(registry, "rpma.bytes", Tags.of("direction", "received"), "bytes", RpmaChannelCounters::bytesReceived);
        counter(registry, "rpma.messages", Tags.of("direction", "sent"), "messages", RpmaChannelCounters::messagesSent);
        counter(registry, "rpma.messages", Tags.of("direction", "received"), "messages", RpmaChannelCounters::messagesReceived);
        counter(registry, "rpma.bulk", Tags.of("direction", "sent"), "messages", RpmaChannelCounters::bulkSent);
        counter(registry, "rpma.bulk", Tags.of("direction", "received"), "messages", RpmaChannelCounters::bulkReceived);
        counter(registry, "rpma.bulk.refused", Tags.empty(), "areas", RpmaChannelCounters::bulkRefused);
        counter(registry, "rpma.control.messages", Tags.empty(), "messages", RpmaChannelCounters::controlMessagesSent);
        counter(registry, "rpma.copies", Tags.of("direction", "sent", "copy", "avoided"), "buffers",
            RpmaChannelCounters::sendCopiesAvoided);
        counter(registry, "rpma.copies", Tags.of("direction", "sent", "copy", "made"), "buffers",
            RpmaChannelCounters::sendCopiesMade);
        counter(registry, "rpma.copies", Tags.of("direction", "received", "copy", "avoided"), "buffers",
            RpmaChannelCounters::receiveCopiesAvoided);
        counter(registry, "rpma.copies", Tags.of("direction", "received", "copy", "made"), "buffers",
            RpmaChannelCounters::receiveCopiesMade);
        counter(registry, "rpma.waits", Tags.of("for", "credit"), "waits", RpmaChannelCounters::creditWaits);
        counter(registry, "rpma.waits", Tags.of("for", "send queue"), "waits", RpmaChannelCounters::sendQueueWaits);
        counter(registry, "rpma.completions", Tags.of("status", "any"), "completions", RpmaChannelCounters::completions);
        for (CompletionStatus status : CompletionStatus.values()) {
            if (status != CompletionStatus.SUCCESS) {
                counter(registry, "rpma.completions.failed", Tags.of("status", status.name()), "completions",
                    counters -> counters.failures(status));
            }
        }
        TimeGauge.builder("rpma.wait.time", () -> RpmaMetrics.channels().waitNanos(), TimeUnit.NANOSECONDS).tags(tags)
            .description("how long senders waited for credits or slots, in sum").register(registry);
        Gauge.builder("rpma.channels", RpmaMetrics::openChannels).tags(tags).description("connections").register(registry);
        Gauge.builder("rpma.memory", RpmaByteBufAllocator.DEFAULT::registeredBytes).tags(tags).tag("state", "registered")
            .baseUnit("bytes").register(registry);
        Gauge.builder("rpma.memory", RpmaByteBufAllocator.DEFAULT::usedBytes).tags(tags).tag("state", "used").baseUnit("bytes")
            .register(registry);
        loops(registry, "rpma.loop.turns", RpmaLoopCounters::turns);
        loops(registry, "rpma.loop.blocks", RpmaLoopCounters::blocks);
        loops(registry, "rpma.loop.spins", RpmaLoopCounters::spins);
        loops(registry, "rpma.loop.spins.paid", RpmaLoopCounters::spinsPaid);
        loops(registry, "rpma.loop.completions", RpmaLoopCounters::completions);
        Gauge.builder("rpma.loops", () -> RpmaMetrics.loops().size()).tags(tags).description("event loops").register(registry);
    }

    private void counter(MeterRegistry registry, String name, Tags own, String unit,
            ToLongFunction<RpmaChannelCounters> value) {
        FunctionCounter.builder(name, RpmaMetrics.class, ignored -> value.applyAsLong(RpmaMetrics.channels())).tags(tags)
            .tags(own).baseUnit(unit).register(registry);
    }

    // The sum of the loops: their number changes, and with it what a meter of each would have to be.
    private void loops(MeterRegistry registry, String name, ToLongFunction<RpmaLoopCounters> value) {
        FunctionCounter.builder(name, RpmaMetrics.class,
            ignored -> RpmaMetrics.loops().stream().mapToLong(value).sum()).tags(tags).register(registry);
    }
}
