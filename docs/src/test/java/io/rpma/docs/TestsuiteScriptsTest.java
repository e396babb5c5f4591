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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what the scripts of the testsuite do if something is amiss, in a copy of the tree. The JDK, QEMU and other programs that
 * they call are replaced by scripts.
 */
@Timeout(240)
class TestsuiteScriptsTest {
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    private Path temporary;
    private Path tree;
    private Path programs;
    private final Map<String, String> environment = new HashMap<>();
    private Process process;

    @BeforeEach
    void plant() throws Exception {
        tree = Files.createDirectories(temporary.resolve("tree"));
        programs = Files.createDirectories(temporary.resolve("programs"));
        copy("tools/find-java.sh");
        Path jdk = programs.resolve("jdk");
        Files.createDirectories(jdk.resolve("bin"));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25\"\n");
        environment.put("JAVA_HOME", jdk.toString());
        environment.put("PATH", programs + ":" + System.getenv("PATH"));
        environment.put("TMPDIR", temporary.toString());
    }

    /** Kills the processes that a failed test has left running. */
    @AfterEach
    void end() {
        if (process != null) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private void copy(String file) throws IOException {
        Path to = tree.resolve(file);
        Files.createDirectories(to.getParent());
        Files.copy(Documents.PROJECT.resolve(file), to, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static void executable(Path file, String script) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/usr/bin/env bash\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Run run(String... command) throws Exception {
        Path output = temporary.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).directory(tree.toFile()).redirectErrorStream(true)
            .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        process = builder.start();
        process.getOutputStream().close();
        assertTrue(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), () -> String.join(" ", command) + " does not end");
        return new Run(process.exitValue(), Files.readString(output));
    }

    /** With options in the environment, the first line that Java prints is about them. */
    @Test
    void theComplianceSuiteFindsJavaIfTheEnvironmentHasOptions() throws Exception {
        copy("testsuite/run-suite.sh");
        Files.createDirectories(tree.resolve("testsuite/target/test-classes"));
        Files.writeString(tree.resolve("testsuite/target/test.classpath"), "a.jar\n");
        executable(programs.resolve("jdk/bin/java"), """
            echo "Picked up JAVA_TOOL_OPTIONS: $JAVA_TOOL_OPTIONS" >&2
            if [[ $1 == -version ]]; then echo 'openjdk version "25" 2025-09-16' >&2; else printf '[%s]' "$@"; fi""");
        environment.put("JAVA_TOOL_OPTIONS", "-Dname=value");
        Run run = run("testsuite/run-suite.sh", "SocketEchoComplianceTest");
        assertEquals(0, run.code(), run::output);
        assertTrue(run.output().endsWith("[io.rpma.testsuite.ComplianceMain][SocketEchoComplianceTest]"), run::output);
    }

    /** QEMU ends without opening the pipes for the output of the guest. */
    @Test
    void anEmulatorThatDoesNotStartIsReported() throws Exception {
        copy("testsuite/aarch64/run.sh");
        copy("testsuite/aarch64/init");
        executable(tree.resolve("testsuite/aarch64/build-guest.sh"), "echo " + temporary.resolve("guest"));
        Files.createDirectories(temporary.resolve("guest/4k"));
        Files.writeString(temporary.resolve("guest/4k/release"), "6.12\n");
        executable(programs.resolve("qemu-system-aarch64"), "echo 'qemu: cannot allocate memory'; exit 1");
        Run run = run("testsuite/aarch64/run.sh", "true");
        assertEquals(125, run.code(), run::output);
        assertTrue(run.output().contains("qemu: cannot allocate memory"), run::output);
        assertTrue(run.output().contains("without an exit code of the command (QEMU's own: 1)"), run::output);
    }

    /** QEMU writes what the guest prints, and the relays deliver all of it. */
    @Test
    void theOutputOfTheGuestIsDelivered() throws Exception {
        copy("testsuite/aarch64/run.sh");
        copy("testsuite/aarch64/init");
        executable(tree.resolve("testsuite/aarch64/build-guest.sh"), "echo " + temporary.resolve("guest"));
        Files.createDirectories(temporary.resolve("guest/4k"));
        Files.writeString(temporary.resolve("guest/4k/release"), "6.12\n");
        executable(programs.resolve("qemu-system-aarch64"), """
            [[ $* =~ path=([^ ]*)/stdout ]]
            : > "${BASH_REMATCH[1]}/kernel.log"
            echo 3 > "${BASH_REMATCH[1]}/out/exit"
            seq 100000 > "${BASH_REMATCH[1]}/stdout"
            echo done > "${BASH_REMATCH[1]}/stderr"
            exit 0""");
        Run run = run("testsuite/aarch64/run.sh", "true");
        assertEquals(3, run.code(), run::output);
        assertTrue(run.output().contains("\n99999\n100000\n"), run::output);
        assertTrue(run.output().contains("done\n"), run::output);
    }

    /**
     * Creates what the script for the suites of frameworks needs. Of the suite of Vert.x there is one class, unless it is {@code
     * null}.
     */
    private void plantSuites(String nameOfClass, String runOfClass) throws IOException {
        copy("testsuite/ecosystem/run.sh");
        copy("testsuite/ecosystem/pom.xml");
        for (String suite : List.of("grpc", "vertx")) {
            Path file = tree.resolve("testsuite/ecosystem/target").resolve(suite + ".classpath");
            Files.createDirectories(file.getParent());
            Files.writeString(file, "/none/vertx-core-5.1.1-tests.jar\n");
        }
        Files.createFile(temporary.resolve("agent.jar"));
        executable(programs.resolve("unshare"), "while [[ $1 != alone ]]; do shift; done; shift; exec \"$@\"");
        executable(programs.resolve("unzip"), "echo 'the JDK can list jar files itself' >&2; exit 1");
        executable(programs.resolve("jdk/bin/javac"), "exit 0");
        executable(programs.resolve("jdk/bin/jar"), nameOfClass == null ? "exit 1"
            : "echo io/vertx/tests/net/" + nameOfClass + ".class");
        executable(programs.resolve("jdk/bin/javap"), nameOfClass == null ? "exit 1"
            : "echo 'public class io.vertx.tests.net." + nameOfClass + " extends Object {'");
        // The last arguments of a test class are its name and two files.
        executable(programs.resolve("jdk/bin/java"), "[[ $* == *RunClass* ]] || exit 0; results=${*: -2:1}\n" + runOfClass);
    }

    private Run runSuite(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 3];
        command[0] = "testsuite/ecosystem/run.sh";
        command[1] = "--agent";
        command[2] = temporary.resolve("agent.jar").toString();
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        return run(command);
    }

    @Test
    void aSuiteWhoseClassesRunSucceeds() throws Exception {
        plantSuites("NetTest", "echo passed > \"$results\"");
        Run run = runSuite("vertx");
        assertEquals(0, run.code(), run::output);
        assertTrue(run.output().contains("vertx, round 1, 1 classes"), run::output);
    }

    @Test
    void aSuiteWithoutClassesFails() throws Exception {
        plantSuites(null, "exit 0");
        Run run = runSuite("vertx");
        assertEquals(1, run.code(), run::output);
        assertTrue(run.output().contains("ecosystem: no test classes of vertx were found"), run::output);
    }

    @Test
    void aSelectionThatMatchesNoClassFails() throws Exception {
        plantSuites("NetTest", "echo passed > \"$results\"");
        Run run = runSuite("--classes", "None", "vertx", "grpc");
        assertEquals(1, run.code(), run::output);
        assertTrue(run.output().contains("ecosystem: no class of vertx matches 'None'"), run::output);
        run = runSuite("--classes", "NetTest", "vertx", "grpc");
        assertEquals(0, run.code(), run::output);
    }

    @Test
    void aClassThatCannotBeRunFails() throws Exception {
        plantSuites("NetTest", "exit 1");
        Run run = runSuite("vertx");
        assertEquals(1, run.code(), run::output);
        for (String transport : List.of("epoll", "rpma")) {
            assertTrue(run.output().contains("ecosystem: NetTest on " + transport + " cannot be run"), run::output);
        }
    }

    @Test
    void aSuiteWithoutTestsFails() throws Exception {
        plantSuites("NetTest", "exit 0");
        Run run = runSuite("vertx");
        assertEquals(1, run.code(), run::output);
        assertTrue(run.output().contains("ecosystem: no test of vertx was run on rpma"), run::output);
    }

    /** The documents name every test that is left out on siw, so a test that is tagged later is not left out unnoticed. */
    @Test
    void theTestsThatAreLeftOutOnSiwAreNamed() throws IOException {
        Path folder = Documents.PROJECT.resolve("testsuite");
        Matcher option = Pattern.compile("-Dio\\.rpma\\.testsuite\\.excludedTags=([\\w,-]+)")
            .matcher(Files.readString(folder.resolve("softroce/verify.sh")));
        assertTrue(option.find(), "verify.sh leaves out no test");
        Pattern tag = Pattern.compile("@Tag\\(\"(?:" + option.group(1).replace(',', '|') + ")\"\\)");
        Set<String> leftOut = new TreeSet<>();
        try (Stream<Path> tests = Files.walk(folder.resolve("src/test/java"))) {
            for (Path test : tests.filter(path -> path.toString().endsWith(".java")).toList()) {
                if (tag.matcher(Files.readString(test)).find()) {
                    leftOut.add(test.getFileName().toString().replace(".java", ""));
                }
            }
        }
        assertTrue(leftOut.size() > 1, leftOut::toString);
        for (Path file : List.of(folder.resolve("softroce/README.md"), Documents.PROJECT.resolve("CHANGELOG.md"))) {
            Set<String> missing = new TreeSet<>(leftOut);
            String text = Files.readString(file);
            missing.removeIf(each -> text.contains('`' + each + '`'));
            assertEquals(Set.of(), missing, file::toString);
        }
    }
}
