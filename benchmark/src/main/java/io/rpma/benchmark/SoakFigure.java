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
package io.rpma.benchmark;

import io.netty.util.internal.PlatformDependent;
import io.rpma.netty.RpmaByteBufAllocator;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;

/** What a soak watches of each process, while nothing is under way and after garbage collections. */
enum SoakFigure {
    /** Memory of the process that is in RAM, shared and files included. */
    RSS("RSS", 1 << 20, 16 << 20),
    /** Java heap in use. */
    HEAP("heap", 1 << 20, 1 << 20),
    /** Direct buffers of Netty and of the JDK. */
    DIRECT("direct", 1 << 20, 1 << 20),
    /** Registered memory that the allocator holds. */
    REGISTERED("registered", 1 << 20, 0),
    /** Registered memory in use, with what threads keep ready. */
    REGISTERED_USED("of it used", 1 << 20, 1 << 20),
    /** Open file descriptors. */
    FILES("files", 1, 0);

    private static final int QUARTERS = 4;

    private final String title;
    private final int unit;
    private final long limit;

    SoakFigure(String title, int unit, long limit) {
        this.title = title;
        this.unit = unit;
        this.limit = limit;
    }

    String title() {
        return title;
    }

    /** Returns how much more there may be at the end than after the warm-up. */
    long limit() {
        return limit;
    }

    /** Formats a value: MiB, or a number. */
    String format(long value) {
        // Rounded before it is divided: there is no -0.0 then.
        return unit == 1 ? Long.toString(value) : String.format(Locale.ROOT, "%.1f", Math.round(10.0 * value / unit) / 10.0);
    }

    /**
     * Returns the growth that samples show which were taken at equal distances: the first quarter is the warm-up; the median of
     * the last quarter less that of the second.
     */
    static long growth(List<Long> samples) {
        int quarter = samples.size() / QUARTERS;
        return median(samples.subList(samples.size() - quarter, samples.size()))
            - median(samples.subList(quarter, 2 * quarter));
    }

    private static long median(List<Long> samples) {
        return samples.stream().sorted().toList().get(samples.size() / 2);
    }

    /** Collects garbage in this process, then reads everything. */
    static Map<SoakFigure, Long> read() throws IOException, JMException {
        Map<SoakFigure, Long> values = new EnumMap<>(SoakFigure.class);
        values.put(HEAP, JvmMemory.settle());
        long direct = Math.max(0, PlatformDependent.usedDirectMemory());
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            direct += pool.getName().equals("direct") ? pool.getMemoryUsed() : 0;
        }
        values.put(DIRECT, direct);
        values.put(REGISTERED, RpmaByteBufAllocator.DEFAULT.registeredBytes());
        values.put(REGISTERED_USED, RpmaByteBufAllocator.DEFAULT.usedBytes());
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            // One is for the list.
            values.put(FILES, files.count() - 1);
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                values.put(RSS, Long.parseLong(line.replaceAll("[^0-9]", "")) << 10);
            }
        }
        return values;
    }

    /** Writes values down in one word. */
    static String toWord(Map<SoakFigure, Long> values) {
        return values.values().stream().map(Object::toString).collect(Collectors.joining(","));
    }

    /** Reads what {@link #toWord} has written. */
    static Map<SoakFigure, Long> parse(String word) {
        List<Long> numbers = Arrays.stream(word.split(",")).map(Long::valueOf).toList();
        Map<SoakFigure, Long> values = new EnumMap<>(SoakFigure.class);
        for (SoakFigure each : values()) {
            values.put(each, numbers.get(each.ordinal()));
        }
        return values;
    }
}
