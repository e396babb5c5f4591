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

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaChannelOption;
import io.rpma.netty.RpmaMessageChannel;
import io.rpma.netty.RpmaMessageServerChannel;
import io.rpma.netty.RpmaServerChannel;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that tuning.md has every option, system property and meter, no other property, and the defaults of the code. */
class TuningTest {
    private static final Pattern PROPERTY = Pattern.compile(
        "(?:PROPERTY\\s*=|(?:getProperty|getBoolean|getLong|getInt|getInteger|get)\\()\\s*\"(io\\.rpma\\.[\\w.]+)\"");

    private static final Pattern METER = Pattern.compile(
        "\"(rpma\\.[a-z.]*[a-z])\"|counter\\(\"([a-z.]+)\"|prefix \\+ \"([a-z.]+)\"");

    private static final Pattern NUMBER = Pattern.compile("\\(\\s*\"(io\\.rpma\\.[\\w.]+)\",\\s*([0-9_]+)");

    /** A row of a table whose first cell is one name. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|");

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

    /** Returns what a pattern finds in the sources of the modules that read system properties. */
    private static Set<String> inSources(Pattern pattern, Function<MatchResult, String> name) throws Exception {
        Set<String> found = new TreeSet<>();
        for (String module : List.of("transport-rpma-native", "transport-rpma", "integrations/vertx",
                "integrations/reactor-netty")) {
            try (Stream<Path> tree = Files.walk(Documents.PROJECT.resolve(module).resolve("src/main/java"))) {
                for (Path file : tree.filter(path -> path.toString().endsWith(".java")).toList()) {
                    pattern.matcher(Files.readString(file)).results().map(name).forEach(found::add);
                }
            }
        }
        return found;
    }

    @Test
    void everySystemProperty() throws Exception {
        Set<String> found = inSources(PROPERTY, match -> match.group(1));
        Set<String> documented = ROW.matcher(tuning()).results().map(row -> row.group(1))
            .filter(name -> name.startsWith("io.rpma.")).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(found, documented);
    }

    /** The class that warns of other properties knows the same ones. */
    @Test
    void everySystemPropertyIsKnown() throws Exception {
        Path file = Documents.PROJECT.resolve("transport-rpma-native/src/main/java/io/rpma/KnownProperties.java");
        Set<String> known = Pattern.compile("\"(io\\.rpma\\.[\\w.]+\\w)\"").matcher(Files.readString(file)).results()
            .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(inSources(PROPERTY, match -> match.group(1)), known);
    }

    @Test
    void defaultsOfNumericSystemProperties() throws Exception {
        Set<String> found = inSources(NUMBER, match -> match.group(1) + " | "
            + String.format(Locale.ROOT, "%,d", Long.parseLong(match.group(2).replace("_", ""))));
        assertTrue(found.size() >= 2, found::toString);
        String tuning = tuning().replace("`", "");
        found.removeIf(row -> tuning.contains("\n| " + row + " |") || tuning.contains("\n| " + row + ";"));
        assertEquals(Set.of(), found, "not in tuning.md");
    }

    /** Returns the forms in which the page may write a default. */
    private static List<String> forms(Object value) {
        if (value instanceof Boolean) {
            return List.of("`" + value + "`");
        } else if (value instanceof Integer number) {
            return List.of(String.format(Locale.ROOT, "%,d", number), (number >> 10) + " KiB", (number >> 20) + " MiB");
        }
        assertTrue(value == null || value instanceof ByteBuffer bytes && !bytes.hasRemaining(), () -> "default " + value);
        return List.of("none");
    }

    private static String documentedDefault(String cell, Channel channel) {
        boolean ofMessages = channel instanceof RpmaMessageChannel || channel instanceof RpmaMessageServerChannel;
        String[] parts = cell.split("; of message channels ");
        return parts[ofMessages ? parts.length - 1 : 0].split("[;:,] ")[0];
    }

    @Test
    void defaultsOfOptions() throws Exception {
        Map<String, String> defaults = ROW.matcher(tuning()).results().collect(Collectors.toMap(row -> row.group(1),
            row -> row.group(2), (first, second) -> first));
        for (Channel channel : List.of(new RpmaChannel(), new RpmaServerChannel(), new RpmaMessageChannel(),
                new RpmaMessageServerChannel())) {
            channel.config().getOptions().forEach((option, value) -> {
                String name = option.name().substring(option.name().lastIndexOf('#') + 1);
                // The default of the paths depends on the process.
                if (name.startsWith("RPMA_") && !name.equals("RPMA_PATHS")) {
                    String documented = documentedDefault(defaults.get(name), channel);
                    assertTrue(forms(value).contains(documented), () -> name + " is " + value + " in a "
                        + channel.getClass().getSimpleName() + ", and " + documented + " in tuning.md");
                }
            });
        }
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
