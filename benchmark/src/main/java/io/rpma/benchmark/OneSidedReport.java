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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** Writes the figures as tables, as JSON, as charts, and as one page that contains all of them. */
final class OneSidedReport {
    private final Setting setting;
    private final OneSidedFigures figures;
    private final int depth;

    /**
     * Creates a report.
     *
     * @param depth the maximum number of operations that were outstanding at once
     */
    OneSidedReport(Setting setting, OneSidedFigures figures, int depth) {
        this.setting = setting;
        this.figures = figures;
        this.depth = depth;
    }

    /** Returns all tables. */
    String tables() {
        String many = "Up to " + depth + " under way, fewer of large ones: ";
        StringBuilder text = new StringBuilder();
        table(text, "One under way: median time, us", true, OneSidedFigure::p50);
        table(text, "One under way: 99 of 100 took at most, us", true, OneSidedFigure::p99);
        table(text, "One under way: processor time of the client for each, us", true, OneSidedFigure::clientCpu);
        table(text, "One under way: processor time of the server for each, us", true, OneSidedFigure::serverCpu);
        table(text, many + "operations per second", false, OneSidedFigure::rate);
        table(text, many + "MB/s", false, OneSidedFigure::megabytes);
        figures.notes().forEach(note -> text.append(note).append('\n'));
        return text.toString();
    }

    private void table(StringBuilder text, String title, boolean isAlone, ToDoubleFunction<OneSidedFigure> quantity) {
        List<String> names = figures.names(isAlone);
        if (names.isEmpty()) {
            return;
        }
        List<String[]> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of(""));
        head.addAll(names);
        rows.add(head.toArray(String[]::new));
        for (int bytes : figures.sizes()) {
            List<String> row = new ArrayList<>(List.of(new OneSidedSize(bytes, 1).title()));
            for (String name : names) {
                OptionalDouble value = figures.median(name, bytes, isAlone, quantity);
                // A quantity that was not measured is 0, for example the processor time of perftest's programs.
                row.add(value.isPresent() && value.getAsDouble() > 0 ? Table.format(value.getAsDouble()) : "-");
            }
            rows.add(row.toArray(String[]::new));
        }
        text.append(title).append('\n').append(Table.align(rows, 1)).append('\n');
    }

    /** Writes all files to a folder. */
    void write(Path folder) throws IOException {
        String tables = tables();
        Map<String, String> drawings = new LinkedHashMap<>();
        drawings.put("one-sided-latency", new SizeChart(figures, true, OneSidedFigure::p50)
            .draw("One under way: median time in us, less is better"));
        drawings.put("one-sided-throughput", new SizeChart(figures, false, OneSidedFigure::megabytes)
            .draw("Up to " + depth + " under way: MB/s, more is better"));
        drawings.put("one-sided-rate", new SizeChart(figures, false, OneSidedFigure::rate)
            .draw("Up to " + depth + " under way: operations per second, more is better"));
        drawings.values().removeIf(drawing -> drawing == null);
        for (Map.Entry<String, String> drawing : drawings.entrySet()) {
            Files.writeString(folder.resolve(drawing.getKey() + ".svg"), drawing.getValue());
        }
        Files.writeString(folder.resolve("one-sided.txt"), tables);
        Files.writeString(folder.resolve("one-sided.json"), json());
        Files.writeString(folder.resolve("one-sided.html"), Report.page("one-sided operations", setting, tables, drawings));
    }

    private String json() {
        Json json = new Json().object().object("setting");
        setting.entries().forEach(json::member);
        json.end().array("figures");
        for (OneSidedFigure figure : figures.all()) {
            json.object().member("operation", figure.name()).member("bytes", figure.bytes()).member("depth", figure.depth())
                .member("p50Micros", figure.p50()).member("p99Micros", figure.p99()).member("perSecond", figure.rate())
                .member("megabytesPerSecond", figure.megabytes()).member("clientCpuMicros", figure.clientCpu())
                .member("serverCpuMicros", figure.serverCpu()).end();
        }
        json.end().array("notes");
        figures.notes().forEach(json::value);
        return json.end().end().toString();
    }
}
