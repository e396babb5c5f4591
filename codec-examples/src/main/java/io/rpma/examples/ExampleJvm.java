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
package io.rpma.examples;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Builds the command line of another process of the examples, with the Java runtime, class path and settings of this process. */
final class ExampleJvm {
    /** Additional options of each process, separated by spaces. The child processes inherit them. */
    private static final String OPTIONS_PROPERTY = "io.rpma.examples.jvmOptions";
    private static final List<String> PREFIXES = List.of("io.rpma.", "io.netty.", "org.slf4j.");

    /** The main class, which is not referred to, because it lists the examples that use this class. */
    private static final String MAIN = "io.rpma.examples.Examples";

    private ExampleJvm() {
    }

    /** Returns the command line that runs {@link Examples} with the given arguments. */
    static List<String> command(List<String> arguments) {
        return command(MAIN, arguments);
    }

    /** Returns the command line that runs another main class of this class path. */
    static List<String> command(Class<?> program, List<String> arguments) {
        return command(program.getName(), arguments);
    }

    private static List<String> command(String program, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        // run-example.sh sets the same option for the same reasons.
        command.add("--sun-misc-unsafe-memory-access=allow");
        command.add("-Dio.netty.noUnsafe=true");
        command.add("-XX:+UseSerialGC");
        command.add("-Xmx256m");
        command.addAll(List.of(System.getProperty(OPTIONS_PROPERTY, "").split(" +")));
        command.removeIf(String::isEmpty);
        for (String name : System.getProperties().stringPropertyNames()) {
            if (PREFIXES.stream().anyMatch(name::startsWith)) {
                command.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(program);
        command.addAll(arguments);
        return command;
    }
}
