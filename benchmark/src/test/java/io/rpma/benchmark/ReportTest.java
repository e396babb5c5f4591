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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import javax.xml.parsers.DocumentBuilderFactory;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {
    private static final Measurement ROUND_TRIP = Measurement.named("rtt64");
    private static final Measurement STREAM = Measurement.named("tput64k");
    private static final Usage USED = new Usage(1_000_000, OptionalLong.empty());

    @Test
    void anOutcomeIsReadAsItWasWritten() throws Exception {
        Histogram times = Outcome.newTimes();
        times.recordValue(1000);
        times.recordValue(2000);
        Outcome outcome = Outcome.ofOperations(times, 1_000_000_000, new Usage(500_000_000, OptionalLong.of(7)));
        Outcome read = Outcome.parse(List.of(("noise\n" + outcome.format()).split("\n")));
        assertEquals(outcome.values(), read.values());
        assertEquals(outcome.times(), read.times());
        assertEquals(2, read.values().get(Metric.RATE));
        assertEquals(250_000, read.values().get(Metric.CPU_PER_OPERATION));
        assertEquals(3.5, read.values().get(Metric.SYSTEM_CALLS_PER_OPERATION));
    }

    private static Results.Run run(Outcome outcome, Distance distance, double nanos) {
        return new Results.Run(outcome, distance, nanos);
    }

    private static void add(Results results, Results.Key key, Outcome outcome) {
        results.add(key, run(outcome, Distance.NEAR, 100));
    }

    @Test
    void comparesTheMediansOfTheRounds() {
        Results results = new Results();
        for (double value : new double[] {9, 1, 2}) {
            add(results, key(ROUND_TRIP, Rival.RPMA), Outcome.of(Map.of(Metric.P50, value)));
        }
        add(results, key(ROUND_TRIP, Rival.EPOLL), Outcome.of(Map.of(Metric.P50, 30.0)));
        add(results, key(STREAM, Rival.RPMA), Outcome.of(Map.of(Metric.THROUGHPUT, 3000.0)));
        add(results, key(STREAM, Rival.EPOLL), Outcome.of(Map.of(Metric.THROUGHPUT, 1000.0)));
        results.fail(key(STREAM, Rival.NIO), "it did not work");
        results.skip(Rival.IO_URING, "it is not there");
        String table = Table.of(results);
        assertTrue(table.matches("(?s).* 2\\.00 +30\\.0 \\(15\\.00\\).*"), table);
        assertTrue(table.matches("(?s).* 3,000 +1,000 \\(3\\.00\\) +failed.*"), table);
        assertTrue(table.contains("Left out: io_uring TCP, it is not there"), table);
        assertTrue(table.contains("it did not work"), table);
    }

    @Test
    void comparesEachPathWithTcpInTheSamePlace() {
        Results results = new Results();
        Map.of(Rival.SHARED_MEMORY, 2.0, Rival.TCP, 11.0, Rival.EPOLL, 10.0, Rival.TCP_OF_HOSTS, 24.0, Rival.EPOLL_OF_HOSTS, 20.0)
            .forEach((rival, value) -> add(results, key(ROUND_TRIP, rival), Outcome.of(Map.of(Metric.P50, value))));
        String table = Table.of(results);
        assertTrue(table.matches("(?s).* 2\\.00 \\(0\\.20\\) +11\\.0 \\(1\\.10\\) +10\\.0 +24\\.0 \\(1\\.20\\) +20\\.0\n.*"),
            table);
        assertTrue(table.contains("how many times as much as epoll TCP in the same place"), table);
    }

    @Test
    void comparesOnlyRunsAtTheSameDistanceOfTheProcessors(@TempDir Path folder) throws Exception {
        Results results = new Results();
        for (Distance distance : List.of(Distance.NEAR, Distance.FAR)) {
            double factor = distance == Distance.NEAR ? 1 : 4;
            results.add(key(ROUND_TRIP, Rival.RPMA), run(Outcome.of(Map.of(Metric.P50, 2 * factor)), distance, 100 * factor));
            results.add(key(ROUND_TRIP, Rival.EPOLL), run(Outcome.of(Map.of(Metric.P50, 30 * factor)), distance, 110 * factor));
        }
        results.add(key(STREAM, Rival.RPMA), run(Outcome.of(Map.of(Metric.THROUGHPUT, 3000.0)), Distance.NEAR, 100));
        results.add(key(STREAM, Rival.EPOLL), run(Outcome.of(Map.of(Metric.THROUGHPUT, 1000.0)), Distance.FAR, 400));
        String table = Table.of(results);
        assertTrue(table.matches("(?s)With near processors:\n.* 2\\.00 +30\\.0 \\(15\\.00\\)\n.* 3,000 +-\n.*"
            + "took 100 ns .*100 to 110.*With far processors:\n.* 8\\.00 +120 \\(15\\.00\\)\n.* - +1,000\n.*"), table);
        new Report(new Setting(Map.of()), results).write(folder);
        assertTrue(Files.exists(folder.resolve("round-trip-near.svg")));
        assertTrue(Files.exists(folder.resolve("round-trip-far.svg")));
        assertTrue(Files.readString(folder.resolve("report.json")).contains("\"processors\": \"far\""));
    }

    @Test
    void saysWhenTheMachineWasBusyWithOtherThings() {
        Results results = new Results();
        add(results, key(ROUND_TRIP, Rival.RPMA), Outcome.of(Map.of(Metric.P50, 1.0)));
        results.addOtherLoad(0.01);
        assertTrue(!Table.of(results).contains("not idle"));
        results.addOtherLoad(0.5);
        assertTrue(Table.of(results).contains("up to 50 %"));
    }

    @Test
    void drawingsAreWellFormed(@TempDir Path folder) throws Exception {
        Results results = new Results();
        for (Rival rival : Rival.values()) {
            Histogram times = Outcome.newTimes();
            for (int i = 1; i < 1000; i++) {
                times.recordValue(i * 100L);
            }
            add(results, key(ROUND_TRIP, rival), Outcome.ofOperations(times, 1_000_000, USED));
            add(results, key(STREAM, rival), Outcome.ofStream(1_000_000, 1_000_000, USED));
        }
        results.fail(key(STREAM, Rival.NIO), "a \"quoted\" <reason>\n\twith lines");
        new Report(new Setting(Map.of("name", "value & more")), results).write(folder);
        List<Path> drawings;
        try (var files = Files.list(folder)) {
            drawings = files.filter(file -> file.toString().endsWith(".svg")).toList();
        }
        assertTrue(drawings.size() >= 4, drawings::toString);
        for (Path drawing : drawings) {
            DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(Files.readString(drawing))));
        }
        String json = Files.readString(folder.resolve("report.json"));
        assertTrue(json.contains("\"a \\\"quoted\\\" <reason>\\u000a\\u0009with lines\""), json);
        assertTrue(Files.readString(folder.resolve("report.html")).contains("value &amp; more"));
    }

    @Test
    void everyNameIsUnique() {
        assertEquals(Measurement.ALL.size(), Measurement.ALL.stream().map(Measurement::name).distinct().count());
        assertTrue(Measurement.QUICK.stream().allMatch(name -> Measurement.named(name) != null));
    }

    private static Results.Key key(Measurement measurement, Rival rival) {
        return new Results.Key(Mode.TWO_PROCESSES, measurement, rival);
    }
}
