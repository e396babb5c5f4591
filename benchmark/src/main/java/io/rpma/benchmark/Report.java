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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** Writes the results as a table, as JSON, as charts, and as one page that contains all of them. */
final class Report {
    private final Setting setting;
    private final Results results;
    private final String table;

    Report(Setting setting, Results results) {
        this.setting = setting;
        this.results = results;
        table = Table.of(results);
    }

    /** Returns the results as a table. */
    String table() {
        return table;
    }

    /** Writes all files to a folder. */
    void write(Path folder) throws IOException {
        Files.writeString(folder.resolve("report.txt"), table);
        Files.writeString(folder.resolve("report.json"), json());
        Map<String, String> drawings = drawings();
        for (Map.Entry<String, String> drawing : drawings.entrySet()) {
            Files.writeString(folder.resolve(drawing.getKey() + ".svg"), drawing.getValue());
        }
        Files.writeString(folder.resolve("report.html"), page(drawings));
    }

    private Map<String, String> drawings() {
        Map<String, String> drawings = new LinkedHashMap<>();
        Set<Distance> distances = results.distances();
        if (distances.size() <= 1) {
            addDrawings(drawings, results, "", "");
        } else {
            distances.forEach(distance -> addDrawings(drawings, results.at(distance), "-" + distance.key(),
                ", " + distance.title()));
        }
        drawings.values().removeIf(Objects::isNull);
        return drawings;
    }

    private static void addDrawings(Map<String, String> drawings, Results of, String suffix, String where) {
        drawings.put("round-trip" + suffix, Charts.bars(of, "Round trip, median" + where, Metric.P50,
            each -> each.kind() == Kind.ROUND_TRIP));
        drawings.put("throughput" + suffix, Charts.bars(of, "One way" + where, Metric.THROUGHPUT, each -> true));
        drawings.put("cpu-per-gb" + suffix, Charts.bars(of, "Processor time of both ends" + where, Metric.CPU_PER_GB,
            each -> true));
        drawings.put("pipelined" + suffix, Charts.bars(of, "Pipelined echo" + where, Metric.RATE,
            each -> each.kind() == Kind.PIPELINE));
        drawings.put("connect" + suffix, Charts.bars(of, "Connect and close" + where, Metric.RATE,
            each -> each.kind() == Kind.CONNECT));
        drawings.put("idle-memory" + suffix, Charts.bars(of, "Memory of an idle connection, both ends" + where,
            Metric.MEMORY_PER_CONNECTION, each -> true));
        drawings.put("idle-cpu" + suffix, Charts.bars(of, "Processor time of idle connections" + where, Metric.IDLE_CPU,
            each -> true));
        for (Mode mode : Mode.values()) {
            for (Measurement measurement : Measurement.ALL) {
                drawings.put("percentiles-" + measurement.name() + "-" + mode.key() + suffix,
                    Charts.percentiles(of, mode, measurement));
            }
        }
    }

    private String json() {
        Json json = new Json().object().object("setting");
        setting.entries().forEach(json::member);
        json.end().member("otherLoadMedian", results.otherLoad()).member("otherLoadHighest", results.highestOtherLoad());
        json.array("results");
        Set<Distance> distances = results.distances();
        distances.forEach(distance -> addResults(json, results.at(distance), distance));
        if (distances.isEmpty()) {
            addResults(json, results, null);
        }
        json.end().object("leftOut");
        results.skipped().forEach((rival, reason) -> json.member(rival.key(), reason));
        return json.end().end().toString();
    }

    private static void addResults(Json json, Results of, Distance distance) {
        for (Results.Key key : of.keys()) {
            json.object().member("measurement", key.measurement().name()).member("mode", key.mode().key())
                .member("rival", key.rival().key());
            if (distance != null) {
                json.member("processors", distance.key());
            }
            for (Metric metric : Metric.values()) {
                of.median(key, metric).ifPresent(median -> json.object(metric.name().toLowerCase(Locale.ROOT))
                    .member("unit", metric.unit()).member("median", median)
                    .member("rounds", of.outcomes(key).stream().filter(outcome -> outcome.values().containsKey(metric))
                        .mapToDouble(outcome -> outcome.values().get(metric)).toArray())
                    .end());
            }
            Histogram times = of.times(key);
            if (times.getTotalCount() > 0) {
                json.object("timesOfAllRounds").member("unit", "ns").member("count", times.getTotalCount());
                for (double percentile : new double[] {0, 10, 50, 90, 99, 99.9, 99.99, 99.999, 100}) {
                    json.member("p" + percentile, times.getValueAtPercentile(percentile));
                }
                json.end();
            }
            if (of.failures().containsKey(key)) {
                json.array("failures");
                of.failures().get(key).forEach(json::value);
                json.end();
            }
            json.end();
        }
    }

    private String page(Map<String, String> drawings) {
        return page("benchmark", setting, table, drawings);
    }

    /** Returns a page that contains all arguments. */
    static String page(String title, Setting setting, String table, Map<String, String> drawings) {
        StringBuilder page = new StringBuilder("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
            + "<title>Netty over RPMA: " + title + "</title></head>\n<body style='font-family: sans-serif'>\n"
            + "<h1>Netty over RPMA: " + title + "</h1>\n<ul>\n");
        setting.entries().forEach((name, value) -> page.append("<li>").append(Svg.escape(name + ": " + value)).append("</li>\n"));
        page.append("</ul>\n<pre>\n").append(Svg.escape(table)).append("</pre>\n");
        drawings.values().forEach(drawing -> page.append("<p>").append(drawing).append("</p>\n"));
        return page.append("</body></html>\n").toString();
    }
}
