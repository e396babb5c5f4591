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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the scripts that build and start the programs in a copy of the tree, from any working directory and several at once.
 * Maven and Java are replaced by scripts that record their arguments.
 */
@Timeout(240)
class LaunchTest {
    private static final List<String> SCRIPTS = List.of("rpma", "run-example.sh", "run-benchmark.sh");
    private static final List<String> MODULES = List.of("transport-rpma-native", "transport-rpma", "cli", "codec-examples",
        "benchmark");

    @TempDir
    private Path temporary;
    private Path tree;
    private Path home;
    private Path programs;
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void plant() throws Exception {
        tree = Files.createDirectories(temporary.resolve("a & tree"));
        home = Files.createDirectories(temporary.resolve("home"));
        programs = Files.createDirectories(temporary.resolve("programs"));
        for (String script : SCRIPTS) {
            Files.copy(Documents.PROJECT.resolve(script), tree.resolve(script), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Files.createDirectory(tree.resolve("tools"));
        for (String script : List.of("launch.sh", "find-java.sh")) {
            Files.copy(Documents.PROJECT.resolve("tools").resolve(script), tree.resolve("tools").resolve(script),
                StandardCopyOption.COPY_ATTRIBUTES);
        }
        Files.createFile(tree.resolve("pom.xml"));
        for (String module : MODULES) {
            Files.createDirectories(tree.resolve(module).resolve("src/main/java"));
            Files.createFile(tree.resolve(module).resolve("pom.xml"));
        }
        // There is Java 17 on the PATH, and Java 25 in Maven's toolchains.
        jdk("17", programs.resolve("jdk-17"), "exit 17");
        jdk("25", programs.resolve("jdk-25"), "readlink /proc/self/fd/* | grep lock; printf '[%s]' \"$@\"; echo");
        Files.createSymbolicLink(programs.resolve("java"), programs.resolve("jdk-17/bin/java"));
        Files.createDirectory(home.resolve(".m2"));
        Files.writeString(home.resolve(".m2/toolchains.xml"),
            "<toolchain><jdkHome>" + programs.resolve("jdk-25") + "</jdkHome></toolchain>\n");
        maven("");
    }

    /** Kills processes that a failed test has left running. */
    @AfterEach
    void end() {
        for (Process process : started) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private void jdk(String release, Path folder, String program) throws IOException {
        Files.createDirectories(folder.resolve("bin"));
        Files.writeString(folder.resolve("release"), "JAVA_VERSION=\"" + release + "\"\n");
        executable(folder.resolve("bin/java"), program);
    }

    /**
     * Creates a Maven that runs some commands, and then creates what `mvn -pl MODULE` creates. It fails if another build runs at
     * the same time.
     */
    private void maven(String before) throws IOException {
        executable(programs.resolve("mvn"), """
            while [[ $1 != -pl ]]; do shift; done
            echo "$2" >> ../builds
            mkdir building || exit 99
            %s
            mkdir -p "$2/target/classes"
            echo lib/a.jar:lib/b.jar > "$2/target/runtime.classpath"
            rmdir building""".formatted(before.replace("\n", "\n            ")));
    }

    private static void executable(Path file, String script) throws IOException {
        Files.writeString(file, "#!/usr/bin/env bash\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Process start(Path folder, Path script, String... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(Stream.concat(Stream.of(script.toString()), Stream.of(arguments)).toList())
            .directory(folder.toFile()).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.remove("JAVA_HOME");
        environment.put("HOME", home.toString());
        environment.put("PATH", programs + ":" + environment.get("PATH"));
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private static String output(Process process, int code) throws Exception {
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(code, process.waitFor(), output);
        return output;
    }

    private List<String> builds() throws IOException {
        Path builds = temporary.resolve("builds");
        return Files.exists(builds) ? Files.readAllLines(builds) : List.of();
    }

    private String classPath(String module) {
        Path target = tree.resolve(module).resolve("target");
        return "[-cp][" + target.resolve("classes") + ":" + target.resolve("lib/a.jar") + ":" + target.resolve("lib/b.jar") + "]";
    }

    @Test
    void eachStartsItsProgramWithTheArguments() throws Exception {
        String report = tree.resolve("benchmark/target").toString();
        Map<List<String>, List<String>> programOf = Map.of(
            List.of("rpma", "info", "--json"), List.of("cli", "[io.rpma.cli.RpmaCommand][info][--json]"),
            List.of("run-example.sh", "echo", "two words", ""),
            List.of("codec-examples", "[io.rpma.examples.Examples][echo][two words][]"),
            List.of("run-benchmark.sh"), List.of("benchmark", "[io.rpma.benchmark.Benchmark][--report][" + report + "/report]"),
            List.of("run-benchmark.sh", "--quick"),
            List.of("benchmark", "[io.rpma.benchmark.Benchmark][--report][" + report + "/report][--quick]"),
            List.of("run-benchmark.sh", "soak", "--quick"),
            List.of("benchmark", "[io.rpma.benchmark.Soak][--logs][" + report + "/soak][--quick]"),
            List.of("run-benchmark.sh", "provider", "-f", "1"), List.of("benchmark", "[io.rpma.benchmark.ProviderCosts][-f][1]"));
        for (Map.Entry<List<String>, List<String>> program : programOf.entrySet()) {
            List<String> call = program.getKey();
            String[] arguments = call.subList(1, call.size()).toArray(String[]::new);
            String output = output(start(tree, tree.resolve(call.getFirst()), arguments), 0);
            assertTrue(output.endsWith(program.getValue().get(1) + "\n"), output);
            assertTrue(output.contains(classPath(program.getValue().get(0))), output);
        }
    }

    /** The JVM archives only the classes of jar files. */
    @Test
    void theSecondStartUsesAnArchiveOfTheClassesIfTheJarIsNew() throws Exception {
        for (List<String> program : List.of(List.of("rpma", "cli"), List.of("run-example.sh", "codec-examples"),
            List.of("run-benchmark.sh", "benchmark"))) {
            Path script = tree.resolve(program.getFirst());
            String module = program.getLast();
            Path target = tree.resolve(module).resolve("target");
            String archive = "[-XX:SharedArchiveFile=" + target.resolve("classes.jsa") + "]";
            assertFalse(output(start(tree, script), 0).contains("jsa"), module);
            Path old = Files.createFile(target.resolve("classes/Old.class"));
            Path jar = Files.createFile(target.resolve(module + "-1.jar"));
            Files.setLastModifiedTime(old, FileTime.from(Files.getLastModifiedTime(jar).toInstant().minusSeconds(10)));
            String output = output(start(tree, script), 0);
            assertEquals(!module.equals("benchmark"), output.contains(archive), output);
            assertTrue(output.contains(classPath(module).replace(target.resolve("classes").toString(), jar.toString())), output);
            Path changed = Files.createFile(target.resolve("classes/New.class"));
            Files.setLastModifiedTime(changed, FileTime.from(Files.getLastModifiedTime(jar).toInstant().plusSeconds(10)));
            output = output(start(tree, script), 0);
            assertFalse(output.contains("jsa"), output);
            assertTrue(output.contains(classPath(module)), output);
        }
    }

    /** A build of a release creates jar files of the sources and of the Javadoc. Their names sort before that of the program. */
    @Test
    void theJarOfTheProgramIsUsedAfterABuildOfARelease() throws Exception {
        output(start(tree, tree.resolve("rpma")), 0);
        Path target = tree.resolve("cli/target");
        for (String kind : List.of("-javadoc", "-sources", "-tests", "")) {
            Files.createFile(target.resolve("cli-1" + kind + ".jar"));
        }
        String output = output(start(tree, tree.resolve("rpma")), 0);
        assertTrue(output.contains("[-cp][" + target.resolve("cli-1.jar") + ":"), output);
        Files.delete(target.resolve("cli-1.jar"));
        output = output(start(tree, tree.resolve("rpma")), 0);
        assertTrue(output.contains(classPath("cli")), output);
    }

    @Test
    void fromAnotherFolderAndByASymbolicLink() throws Exception {
        Path link = Files.createSymbolicLink(programs.resolve("by-link"), tree.resolve("rpma"));
        Path linkToLink = Files.createSymbolicLink(home.resolve("by-two"), Path.of("../programs/by-link"));
        for (Path script : List.of(tree.resolve("rpma"), link, linkToLink, Path.of("../a & tree/rpma"), Path.of("by-two"))) {
            Path called = script.isAbsolute() || script.startsWith("..") ? script : Path.of("./" + script);
            assertTrue(output(start(home, called, "info"), 0).contains(classPath("cli")), script::toString);
        }
        assertEquals(List.of("cli"), builds());
    }

    @Test
    void builtAgainOnlyAfterAChange() throws Exception {
        assertTrue(output(start(tree, tree.resolve("rpma")), 0).startsWith("building once...\n"));
        assertFalse(output(start(tree, tree.resolve("rpma")), 0).contains("building"));
        Path source = Files.createFile(tree.resolve("transport-rpma/src/main/java/New.java"));
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(10)));
        assertTrue(output(start(tree, tree.resolve("rpma")), 0).startsWith("building once...\n"));
        assertEquals(List.of("cli", "cli"), builds());
    }

    /** A script that waited uses the build of the other one. A program that is started does not hold the lock. */
    @Test
    void scriptsThatStartAtOnceBuildOneAfterTheOther() throws Exception {
        Path gate = temporary.resolve("gate");
        assertEquals(new Run(0, ""), Run.of(temporary, List.of("mkfifo", gate.toString())));
        maven("[[ $(< ../builds) != codec-examples ]] || read -r < ../gate");
        List<Process> three = new ArrayList<>();
        for (String script : List.of("run-example.sh", "run-example.sh", "rpma")) {
            Process process = start(tree, tree.resolve(script));
            // The first script runs Maven when the others start, and they wait for the lock.
            await(three.isEmpty() ? () -> Files.exists(tree.resolve("building")) : () -> waitsForTheLock(process));
            three.add(process);
        }
        assertEquals(List.of("codec-examples"), builds());
        Files.writeString(gate, "go\n");
        for (Process process : three) {
            String output = output(process, 0);
            assertFalse(output.contains("build.lock"), output);
            assertTrue(output.contains("[-cp]"), output);
        }
        assertEquals(List.of("codec-examples", "cli"), builds());
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        // No event reports what other processes do, so the condition is polled.
        while (!condition.holds()) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private static boolean waitsForTheLock(Process process) {
        return process.descendants().anyMatch(child -> child.info().command().orElse("").endsWith("/flock"));
    }

    @Test
    void aBuildThatFailsIsToldOnce() throws Exception {
        maven("echo 'it does not compile'; exit 1");
        String output = output(start(tree, tree.resolve("run-example.sh"), "echo"), 1);
        assertEquals("building once...\nit does not compile\nrun-example.sh: the build failed; its whole output is in "
            + tree.resolve("codec-examples/target/build.log") + "\n", output);
    }

    @Test
    void withoutANewJavaItSaysWhereItHasLooked() throws Exception {
        executable(tree.resolve("tools/find-java.sh"), "echo none >&2; exit 1");
        assertEquals("none\n", output(start(tree, tree.resolve("rpma")), 1));
        assertEquals(List.of(), builds());
    }
}
