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
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Compares what JUnit has reported of the same tests on two transports: {@code Differences.java FOLDER EXPLAINED [--classes]}.
 * The folder has one folder for each transport, {@code epoll} and {@code rpma}, with one for each round, in which there is one
 * for each class of tests. Of a test that ran in several rounds the best one counts. Lines of the file of explanations are
 * {@code CLASS#METHOD = REASON}, where the test is a regular expression.
 */
public final class Differences {
    private static final List<String> TRANSPORTS = List.of("epoll", "rpma");

    /** How a test ended, the best first. */
    private enum End { PASSED, SKIPPED, FAILED, MISSING }

    private record Result(End end, String why) {
        static final Result MISSING = new Result(End.MISSING, "not run, or its class did not finish");

        Result or(Result other) {
            return end.compareTo(other.end) <= 0 ? this : other;
        }
    }

    private record Explanation(Pattern test, String reason) {
    }

    private final Map<String, TreeMap<String, Result>> results = new TreeMap<>();
    private final List<Explanation> explanations = new ArrayList<>();

    private Differences(Path folder, Path explained) throws Exception {
        for (String transport : TRANSPORTS) {
            TreeMap<String, Result> ofTransport = new TreeMap<>();
            results.put(transport, ofTransport);
            List<Path> reports;
            try (Stream<Path> files = Files.walk(folder.resolve(transport))) {
                reports = files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml")).toList();
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

    private static void read(Path report, Map<String, Result> into) throws Exception {
        NodeList cases = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(report.toFile())
            .getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            Element test = (Element) cases.item(i);
            String type = test.getAttribute("classname");
            String name = type.substring(type.lastIndexOf('.') + 1) + '#' + test.getAttribute("name").replaceAll("\\(.*\\)$", "");
            into.merge(name, result(test), Result::or);
        }
    }

    private static Result result(Element test) {
        for (String tag : new String[] {"failure", "error"}) {
            NodeList found = test.getElementsByTagName(tag);
            if (found.getLength() > 0) {
                Element failure = (Element) found.item(0);
                String type = failure.getAttribute("type");
                String why = type.substring(type.lastIndexOf('.') + 1) + ": " + failure.getAttribute("message");
                return new Result(End.FAILED, why.lines().findFirst().orElse("").replace('|', '/'));
            }
        }
        return test.getElementsByTagName("skipped").getLength() > 0 ? new Result(End.SKIPPED, "skipped")
            : new Result(End.PASSED, "passed");
    }

    private Set<String> different() {
        Set<String> tests = new TreeSet<>();
        results.values().forEach(each -> tests.addAll(each.keySet()));
        tests.removeIf(test -> of("epoll", test).end == of("rpma", test).end);
        return tests;
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

    /** Prints the counts and the table; returns how many differences nobody has explained. */
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
     * Compares.
     *
     * @param arguments the folder, the file of explanations, and {@code --classes} for the names of the classes that differ alone
     */
    public static void main(String[] arguments) throws Exception {
        Differences differences = new Differences(Path.of(arguments[0]), Path.of(arguments[1]));
        if (arguments.length > 2) {
            differences.different().stream().map(test -> test.substring(0, test.indexOf('#'))).distinct()
                .forEach(System.out::println);
        } else if (differences.print() > 0) {
            System.exit(1);
        }
    }
}
