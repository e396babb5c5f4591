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
package io.rpma.soft;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts main classes of the tests in separate processes. */
final class ChildProcess {
    private ChildProcess() {
    }

    /** Starts a main class with the class path of this process. The standard error of the new process is that of this process. */
    static Process start(Class<?> main, String... arguments) throws IOException {
        return start(List.of(), main, arguments);
    }

    /** Starts a main class with further options of the JVM. */
    static Process start(List<String> options, Class<?> main, String... arguments) throws IOException {
        return startBy(List.of(), options, main, arguments);
    }

    /** Starts a main class through a program that runs the command in its arguments, such as {@code unshare}. */
    static Process startBy(List<String> program, List<String> options, Class<?> main, String... arguments) throws IOException {
        return startBy(program, options, classPath(), main, arguments);
    }

    /** Returns the class path of this process. */
    static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Starts a main class with another class path. */
    static Process startBy(List<String> program, List<String> options, String classPath, Class<?> main, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(program);
        command.addAll(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
            "-Xmx256m", "-Xshare:auto", "-XX:+UseSerialGC"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
