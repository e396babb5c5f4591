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

/** The figures that a soak test observes in each process, when no message is outstanding and after garbage collections. */
enum SoakFigure {
    /** The resident memory of the process, including shared memory and files. */
    RSS("RSS", 1 << 20, 16 << 20),
    /** The used Java heap. */
    HEAP("heap", 1 << 20, 1 << 20),
    /** The direct buffers of Netty and of the JDK. */
    DIRECT("direct", 1 << 20, 1 << 20),
    /** The registered memory of the allocator. */
    REGISTERED("registered", 1 << 20, 0),
    /** The registered memory that is in use or cached by threads. */
    REGISTERED_USED("of it used", 1 << 20, 1 << 20),
    /** The open file descriptors. */
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

    /** Returns how much a figure may grow between the warm-up and the end. */
    long limit() {
        return limit;
    }

    /** Formats a value in MiB or as a number. */
    String format(long value) {
        // The value is rounded before the division, so that the result is never -0.0.
        return unit == 1 ? Long.toString(value) : String.format(Locale.ROOT, "%.1f", Math.round(10.0 * value / unit) / 10.0);
    }

    /**
     * Returns the growth of samples that were taken at equal intervals. The first quarter counts as warm-up. The growth is the
     * median of the last quarter minus the median of the second quarter.
     */
    static long growth(List<Long> samples) {
        int quarter = samples.size() / QUARTERS;
        return median(samples.subList(samples.size() - quarter, samples.size()))
            - median(samples.subList(quarter, 2 * quarter));
    }

    private static long median(List<Long> samples) {
        return samples.stream().sorted().toList().get(samples.size() / 2);
    }

    /** Runs the garbage collector in this process, then reads all figures. */
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
            // Listing the directory opens one descriptor itself.
            values.put(FILES, files.count() - 1);
        }
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                values.put(RSS, Long.parseLong(line.replaceAll("[^0-9]", "")) << 10);
            }
        }
        return values;
    }

    /** Formats values as one word. */
    static String toWord(Map<SoakFigure, Long> values) {
        return values.values().stream().map(Object::toString).collect(Collectors.joining(","));
    }

    /** Parses the result of {@link #toWord}. */
    static Map<SoakFigure, Long> parse(String word) {
        List<Long> numbers = Arrays.stream(word.split(",")).map(Long::valueOf).toList();
        Map<SoakFigure, Long> values = new EnumMap<>(SoakFigure.class);
        for (SoakFigure each : values()) {
            values.put(each, numbers.get(each.ordinal()));
        }
        return values;
    }
}
