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
package io.rpma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelOption;
import io.rpma.netty.RpmaChannelOption;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that every option, every system property and every meter is in tuning.md. */
class TuningTest {
    private static final Pattern PROPERTY = Pattern.compile(
        "(?:_PROPERTY\\s*=|(?:getProperty|getBoolean|getLong|getInt|getInteger|get)\\()\\s*\"(io\\.rpma\\.[\\w.]+)\"");

    private static final Pattern METER = Pattern.compile(
        "\"(rpma\\.[a-z.]*[a-z])\"|counter\\(\"([a-z.]+)\"|prefix \\+ \"([a-z.]+)\"");

    private static String tuning() throws Exception {
        return Files.readString(Documents.FOLDER.resolve("tuning.md"));
    }

    @Test
    void everyOption() throws Exception {
        Set<String> missing = new TreeSet<>();
        for (Field field : RpmaChannelOption.class.getFields()) {
            if (field.getDeclaringClass() == RpmaChannelOption.class && ChannelOption.class.isAssignableFrom(field.getType())
                && !tuning().contains("| `" + field.getName() + "` |")) {
                missing.add(field.getName());
            }
        }
        assertEquals(Set.of(), missing);
    }

    @Test
    void everySystemProperty() throws Exception {
        Set<String> found = new TreeSet<>();
        for (String module : List.of("transport-rpma-native", "transport-rpma", "integrations/vertx",
                "integrations/reactor-netty")) {
            try (Stream<Path> tree = Files.walk(Documents.PROJECT.resolve(module).resolve("src/main/java"))) {
                for (Path file : tree.filter(path -> path.toString().endsWith(".java")).toList()) {
                    Matcher property = PROPERTY.matcher(Files.readString(file));
                    while (property.find()) {
                        found.add(property.group(1));
                    }
                }
            }
        }
        assertTrue(found.size() >= 7, found::toString);
        String tuning = tuning();
        found.removeIf(property -> tuning.contains("| `" + property + "` |"));
        assertEquals(Set.of(), found, "not in tuning.md");
    }

    @Test
    void everyMeter() throws Exception {
        Set<String> found = new TreeSet<>();
        Path sources = Documents.PROJECT.resolve("integrations/micrometer/src/main/java/io/rpma/micrometer");
        for (String file : List.of("RpmaMetricsBinder.java", "RpmaChannelMetricsBinder.java", "CounterMeters.java")) {
            Matcher meter = METER.matcher(Files.readString(sources.resolve(file)));
            while (meter.find()) {
                found.add(meter.group(1) != null ? meter.group(1)
                    : "rpma." + (meter.group(2) != null ? meter.group(2) : meter.group(3)));
            }
        }
        assertTrue(found.containsAll(Set.of("rpma.channels", "rpma.channel.receives.low", "rpma.bulk.refused", "rpma.wait.time")),
            found::toString);
        String tuning = tuning();
        found.removeIf(meter -> tuning.contains('`' + meter + '`'));
        assertEquals(Set.of(), found, "not in tuning.md");
    }
}
