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
package io.rpma.ecosystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares the results that {@link RunClass} has recorded for the same tests on two transports: {@code Differences.java FOLDER
 * EXPLAINED [--again]}. The folder contains one folder for each transport, {@code epoll} and {@code rpma}. Each of them contains
 * a folder for each round, which contains a folder for each test class. If a test ran in several rounds, its best result counts.
 * The lines of the file of explanations are {@code CLASS#METHOD = REASON}, where the test is a regular expression.
 */
public final class Differences {
    private static final List<String> TRANSPORTS = List.of("epoll", "rpma");

    /** The possible results of a test, the best first. */
    private enum End { PASSED, SKIPPED, FAILED, MISSING }

    private record Result(End end, String why) {
        static final Result MISSING = new Result(End.MISSING, "not run, or cut off with its class");

        Result or(Result other) {
            return end.compareTo(other.end) <= 0 ? this : other;
        }
    }

    private record Explanation(Pattern test, String reason) {
    }

    private final Map<String, TreeMap<String, Result>> results = new TreeMap<>();
    private final List<Explanation> explanations = new ArrayList<>();

    private Differences(Path folder, Path explained) throws IOException {
        for (String transport : TRANSPORTS) {
            TreeMap<String, Result> ofTransport = new TreeMap<>();
            results.put(transport, ofTransport);
            List<Path> reports;
            try (Stream<Path> files = Files.walk(folder.resolve(transport))) {
                reports = files.filter(file -> file.endsWith("results.tsv")).toList();
            }
            for (Path report : reports) {
                read(report, ofTransport);
            }
        }
        if (Files.exists(explained)) {
            for (String line : Files.readAllLines(explained)) {
                if (!line.isBlank() && !line.startsWith("# ")) {
                    explain(line, explained);
                }
            }
        }
    }

    private void explain(String line, Path file) throws IOException {
        int equals = line.indexOf(" = ");
        if (equals < 0) {
            throw new IOException(file + ": '" + line + "' is no explanation; one is CLASS#METHOD = REASON");
        }
        explanations.add(new Explanation(Pattern.compile(line.substring(0, equals)), line.substring(equals + 3)));
    }

    private static void read(Path report, Map<String, Result> into) throws IOException {
        for (String line : Files.readAllLines(report)) {
            String[] fields = line.split("\t", 4);
            switch (fields[1]) {
                // A test that has begun and has no result was interrupted together with its class.
                case "BEGUN" -> into.merge(fields[2], Result.MISSING, Result::or);
                case "DONE" -> { }
                default -> {
                    String why = fields[3].isEmpty() ? fields[1].toLowerCase(Locale.ROOT) : fields[3].replace('|', '/');
                    into.merge(fields[2], new Result(End.valueOf(fields[1]), why), Result::or);
                }
            }
        }
    }

    private Set<String> different() {
        Set<String> tests = new TreeSet<>();
        results.values().forEach(each -> tests.addAll(each.keySet()));
        tests.removeIf(test -> of("epoll", test).end == of("rpma", test).end);
        return tests;
    }

    /** Returns the methods that failed in any run or differ, and have no explanation. */
    private Set<String> again() {
        Set<String> tests = new TreeSet<>(different());
        results.values().forEach(each -> each.forEach((test, result) -> {
            if (result.end.compareTo(End.FAILED) >= 0) {
                tests.add(test);
            }
        }));
        return tests.stream().filter(test -> explanation(test) == null).map(test -> test.replaceAll("\\[.*", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private Result of(String transport, String test) {
        return results.get(transport).getOrDefault(test, Result.MISSING);
    }

    private String explanation(String test) {
        return explanations.stream().filter(each -> each.test.matcher(test).matches()).map(Explanation::reason).findFirst()
            .orElse(null);
    }

    private long count(String transport, End end) {
        return results.get(transport).values().stream().filter(each -> each.end == end).count();
    }

    /** Prints the counts and the table. Returns the number of differences without an explanation. */
    private int print() {
        System.out.printf("%n| | passed | failed | skipped |%n|---|---|---|---|%n");
        for (String transport : TRANSPORTS) {
            System.out.printf("| %s | %d | %d | %d |%n", transport, count(transport, End.PASSED), count(transport, End.FAILED),
                count(transport, End.SKIPPED));
        }
        Set<String> different = different();
        if (different.isEmpty()) {
            System.out.printf("%nNo difference.%n");
            return 0;
        }
        int unexplained = 0;
        System.out.printf("%n| test | epoll | rpma | why |%n|---|---|---|---|%n");
        for (String test : different) {
            String reason = explanation(test);
            if (reason == null) {
                reason = "UNEXPLAINED";
                unexplained++;
            }
            System.out.printf("| `%s` | %s | %s | %s |%n", test, shown(of("epoll", test)), shown(of("rpma", test)), reason);
        }
        System.out.printf("%n%d tests differ, %d of them unexplained.%n", different.size(), unexplained);
        return unexplained;
    }

    private static String shown(Result result) {
        String why = result.why;
        return why.length() <= 80 ? why : why.substring(0, 80);
    }

    /**
     * Compares the results.
     *
     * @param arguments the folder, the file of explanations, and {@code --again} to print only the names of the methods that must
     *     be run again
     */
    public static void main(String[] arguments) throws IOException {
        Differences differences = new Differences(Path.of(arguments[0]), Path.of(arguments[1]));
        if (arguments.length > 2) {
            differences.again().forEach(System.out::println);
        } else if (differences.print() > 0) {
            System.exit(1);
        }
    }
}
