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
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.rpma.CompletionStatus;
import io.rpma.netty.RpmaChannelCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The meters of {@link RpmaChannelCounters}, either of one connection or of the sum of all connections.
 *
 * @param <T> the type of the object that has the counters; the registry holds it by a weak reference
 */
final class CounterMeters<T> {
    private final MeterRegistry registry;
    private final String prefix;
    private final Tags tags;
    private final T owner;
    private final Function<T, RpmaChannelCounters> counters;
    private final List<Meter> registered = new ArrayList<>();

    CounterMeters(MeterRegistry registry, String prefix, Tags tags, T owner, Function<T, RpmaChannelCounters> counters) {
        this.registry = registry;
        this.prefix = prefix;
        this.tags = tags;
        this.owner = owner;
        this.counters = counters;
    }

    /** Registers and returns all meters. */
    List<Meter> register() {
        Tags sent = Tags.of("direction", "sent");
        Tags received = Tags.of("direction", "received");
        counter("bytes", sent, "bytes", RpmaChannelCounters::bytesSent);
        counter("bytes", received, "bytes", RpmaChannelCounters::bytesReceived);
        counter("messages", sent, "messages", RpmaChannelCounters::messagesSent);
        counter("messages", received, "messages", RpmaChannelCounters::messagesReceived);
        counter("bulk", sent, "messages", RpmaChannelCounters::bulkSent);
        counter("bulk", received, "messages", RpmaChannelCounters::bulkReceived);
        counter("bulk.refused", Tags.empty(), "areas", RpmaChannelCounters::bulkRefused);
        counter("control.messages", Tags.empty(), "messages", RpmaChannelCounters::controlMessagesSent);
        counter("copies", sent.and("copy", "avoided"), "buffers", RpmaChannelCounters::sendCopiesAvoided);
        counter("copies", sent.and("copy", "made"), "buffers", RpmaChannelCounters::sendCopiesMade);
        counter("copies", received.and("copy", "avoided"), "buffers", RpmaChannelCounters::receiveCopiesAvoided);
        counter("copies", received.and("copy", "made"), "buffers", RpmaChannelCounters::receiveCopiesMade);
        counter("waits", Tags.of("for", "credit"), "waits", RpmaChannelCounters::creditWaits);
        counter("waits", Tags.of("for", "send queue"), "waits", RpmaChannelCounters::sendQueueWaits);
        counter("completions", Tags.of("status", "any"), "completions", RpmaChannelCounters::completions);
        for (CompletionStatus status : CompletionStatus.values()) {
            if (status != CompletionStatus.SUCCESS) {
                counter("completions.failed", Tags.of("status", status.name()), "completions", each -> each.failures(status));
            }
        }
        registered.add(TimeGauge.builder(prefix + "wait.time", owner, TimeUnit.NANOSECONDS,
                each -> counters.apply(each).waitNanos()).tags(tags)
            .description("how long senders waited for credits or slots, in sum").register(registry));
        return registered;
    }

    private void counter(String name, Tags own, String unit, ToLongFunction<RpmaChannelCounters> value) {
        registered.add(FunctionCounter.builder(prefix + name, owner, each -> value.applyAsLong(counters.apply(each))).tags(tags)
            .tags(own).baseUnit(unit).register(registry));
    }
}
