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

import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.control.FolderNames;
import io.rpma.soft.control.ListeningSocket;
import io.rpma.soft.host.FileCalls;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.User;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests processes that share memory through a folder: in separate namespaces, as containers have them, and as different users.
 */
@Timeout(120)
class SharedFolderTest {
    private static final String ANY = "0.0.0.0";
    private static final String LOOPBACK = "127.0.0.1";
    /** This is not the user of the test, who is mapped to root or to the same user. */
    private static final String[] AS_ANOTHER_USER = {"setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"};

    @TempDir
    private Path temporary;
    private Path folder;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void open() throws Exception {
        // Another user must be able to access this folder.
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
        folder = Files.createDirectory(temporary.resolve("folder"));
        setMode("rwxrwx---");
    }

    private void setMode(String mode) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(mode));
    }

    @AfterEach
    void close() throws Exception {
        for (Process process : processes) {
            // unshare ends when its child has ended, which ends with its input.
            process.getOutputStream().close();
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
    }

    /** A process and its output. */
    private record Child(Process process, BufferedReader answers) {
        String answer() throws IOException {
            return answers.readLine();
        }

        String answerToNextAttempt() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            return answer();
        }
    }

    private Child start(List<String> program, List<String> options, String... arguments) throws IOException {
        // Processes in several PID namespaces would use the same file of performance data, and print a warning.
        List<String> all = new ArrayList<>(options);
        all.add("-XX:-UsePerfData");
        Process process = ChildProcess.startBy(program, all, classPath(program), FolderChild.class, arguments);
        processes.add(process);
        return new Child(process, process.inputReader());
    }

    /** Returns the class path for a program. A program that changes the user gets copies, which every user can read. */
    private String classPath(List<String> program) throws IOException {
        if (!program.contains("setpriv")) {
            return ChildProcess.classPath();
        }
        List<String> copies = new ArrayList<>();
        String[] entries = ChildProcess.classPath().split(File.pathSeparator);
        for (int i = 0; i < entries.length; i++) {
            Path original = Path.of(entries[i]);
            if (Files.isDirectory(original) || original.getFileName().toString().matches("slf4j.*\\.jar")) {
                Path copy = temporary.resolve("class-path-" + i).resolve(original.getFileName());
                if (!Files.exists(copy)) {
                    copy(original, copy);
                }
                copies.add(copy.toString());
            }
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void copy(Path original, Path copy) throws IOException {
        Files.createDirectories(copy.getParent());
        try (Stream<Path> all = Files.walk(original)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.copy(each, copy.resolve(original.relativize(each).toString()));
            }
        }
    }

    private List<String> option() {
        return List.of("-Dio.rpma.soft.directory=" + folder);
    }

    private Child serve(List<String> program, String address) throws IOException {
        return start(program, option(), "serve", address, "0");
    }

    private Child connect(List<String> program, String address, String port, int count) throws IOException {
        return start(program, option(), "connect", address, port, String.valueOf(count));
    }

    private static void assumeWorks(String... program) throws Exception {
        List<String> trial = new ArrayList<>(List.of(program));
        trial.add("true");
        boolean works;
        try {
            works = new ProcessBuilder(trial).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException e) {
            works = false;
        }
        Assumptions.assumeTrue(works, () -> String.join(" ", program) + " is not permitted here");
    }

    private long files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.count();
        }
    }

    // ---- namespaces

    /** Returns the command for the separate namespaces that containers of a pod have: all except the network namespace. */
    private static String[] container(String... users) {
        List<String> all = new ArrayList<>(List.of("unshare", "--user"));
        all.addAll(List.of(users));
        all.addAll(List.of("--mount", "--ipc", "--pid", "--fork", "--uts"));
        return all.toArray(String[]::new);
    }

    private void assertMeet(String[] server, String[] client) throws Exception {
        assumeWorks(server);
        assumeWorks(client);
        Child listener = serve(List.of(server), LOOPBACK);
        String port = listener.answer();
        Child connecting = connect(List.of(client), LOOPBACK, port, 3);
        assertEquals("done 1", connecting.answer(), "one process is at the other end of all three connections");
        for (int i = 0; i < 3; i++) {
            assertEquals(LOOPBACK + " 1", listener.answer());
        }
    }

    @Test
    void containersOfOneUserMeet() throws Exception {
        assertMeet(container("--map-root-user"), container("--map-root-user"));
    }

    @Test
    void containersInWhichTheUserHasDifferentNumbersOrNoneMeet() throws Exception {
        assertMeet(container("--map-user=1000"), container());
        assertMeet(container(), container());
    }

    @Test
    void aContainerMeetsAProcessOfTheHost() throws Exception {
        assertMeet(container("--map-root-user"), new String[0]);
        assertMeet(new String[0], container("--map-root-user"));
    }

    @Test
    void severalContainersAreKnownFromEachOther() throws Exception {
        String[] container = container("--map-root-user");
        assumeWorks(container);
        Child listener = serve(List.of(container), LOOPBACK);
        String port = listener.answer();
        for (int i = 1; i <= 3; i++) {
            assertEquals("done 1", connect(List.of(container), LOOPBACK, port, 1).answer());
            assertEquals(LOOPBACK + ' ' + i, listener.answer(), "the number of processes, all of which have no identifier here");
        }
    }

    /** An address has a different meaning in each network namespace, so the listener is found by TCP, and sends its name. */
    @Test
    void containersWithNetworksOfTheirOwnMeet() throws Exception {
        String[] own = {"unshare", "--user", "--map-root-user", "--net"};
        assumeWorks(own);
        assumeWorks("unshare", "--user", "--map-root-user", "--net", "sh", "-c",
            "ip link add v1 type veth peer name v2 && exec \"$@\"", "sh");
        Child listener = serve(List.of("unshare", "--user", "--map-root-user", "--net", "sh", "-c",
            "ip link set lo up && exec \"$@\"", "sh"), ANY);
        String port = listener.answer();
        long there = listener.process().pid();
        String program = "ip link add v2 type veth peer name v1 netns " + there
            + " && ip addr add 10.99.0.2/24 dev v2 && ip link set v2 up && ip link set lo up"
            + " && nsenter --target " + there + " --net sh -c 'ip addr add 10.99.0.1/24 dev v1 && ip link set v1 up'"
            + " && exec \"$@\"";
        List<String> client = List.of("nsenter", "--target", String.valueOf(there), "--user", "--preserve-credentials",
            "unshare", "--net", "sh", "-c", program, "sh");
        Child connecting = connect(client, "10.99.0.1", port, 2);
        assertEquals("done 1", connecting.answer());
        assertEquals("10.99.0.2 1", listener.answer(), "the address by which the client reaches the listener");
        // Another network may have another listener at the same address and port.
        Child second = start(List.of("unshare", "--user", "--map-root-user", "--net", "sh", "-c",
            "ip link set lo up && exec \"$@\"", "sh"), option(), "serve", ANY, port);
        assertEquals(port, second.answer());
    }

    // ---- users

    @Test
    void differentUsersMeetInAFolderOfBoth() throws Exception {
        assumeWorks(AS_ANOTHER_USER);
        setMode("rwxrwxrwx");
        assertEquals(0, new ProcessBuilder("chmod", "+t", folder.toString()).start().waitFor());
        assertMeet(AS_ANOTHER_USER, new String[0]);
        assertMeet(new String[0], AS_ANOTHER_USER);
        assertMeet(new String[0], new String[] {"setpriv", "--reuid=54322", "--regid=54322", "--clear-groups"});
    }

    @Test
    void theGroupOfTheFolderMeets() throws Exception {
        String[] one = {"setpriv", "--reuid=54321", "--regid=54321", "--groups=54000"};
        String[] other = {"setpriv", "--reuid=54322", "--regid=54322", "--groups=54000"};
        assumeWorks(one);
        for (String mode : List.of("2770", "0770")) {
            assertEquals(0, new ProcessBuilder("sh", "-c", "chgrp 54000 " + folder + " && chmod " + mode + ' ' + folder).start()
                .waitFor());
            assertMeet(one, other);
            String port = serve(List.of(one), LOOPBACK).answer();
            String refused = connect(List.of("setpriv", "--reuid=54323", "--regid=54323", "--clear-groups"), LOOPBACK, port, 1)
                .answer();
            assertTrue(refused.contains(folder.toString()) && refused.contains("to search it"), refused);
        }
    }

    @Test
    void aUserWhoMayNotWriteToTheFolderCannotConnect() throws Exception {
        assumeWorks(AS_ANOTHER_USER);
        setMode("rwxr-xr-x");
        String port = serve(List.of(), LOOPBACK).answer();
        String refused = connect(List.of(AS_ANOTHER_USER), LOOPBACK, port, 1).answer();
        assertTrue(refused.startsWith("errno " + Posix.EACCES) && refused.contains(folder.toString())
            && refused.contains("user 54321 must be allowed to write to the folder (user 0, group 0, mode 755)"), refused);
        String listening = serve(List.of(AS_ANOTHER_USER), LOOPBACK).answer();
        assertTrue(listening.startsWith("errno " + Posix.EACCES) && listening.contains("must be allowed to write"), listening);
    }

    // ---- both or neither

    @Test
    void aProcessThatDoesNotKnowTheFolderIsRefused() throws Exception {
        String port = serve(List.of(), LOOPBACK).answer();
        String refused = start(List.of(), List.of(), "connect", LOOPBACK, port, "1").answer();
        assertTrue(refused.contains("-Dio.rpma.soft.directory") && refused.contains("start it with the same option"), refused);
    }

    @Test
    void aListenerThatHasNotBeenToldOfTheFolderIsRefused() throws Exception {
        // Accepts what arrives by TCP while the other process connects.
        Child listener = start(List.of(), List.of(), "serve", LOOPBACK, "0");
        String refused = connect(List.of(), LOOPBACK, listener.answer(), 1).answer();
        assertTrue(refused.contains("start the listener with -Dio.rpma.soft.directory=" + folder), refused);
    }

    @Test
    void anotherFolderIsNotTheSame() throws Exception {
        String port = serve(List.of(), LOOPBACK).answer();
        Path other = Files.createDirectory(temporary.resolve("other"));
        String refused = start(List.of(), List.of("-Dio.rpma.soft.directory=" + other), "connect", LOOPBACK, port, "1").answer();
        assertTrue(refused.contains("has no socket in " + other), refused);
    }

    @Test
    void withoutAFolderNothingIsWrittenAnywhere() throws Exception {
        Child listener = start(List.of(), List.of(), "serve", LOOPBACK, "0");
        assertEquals("done 1", start(List.of(), List.of(), "connect", LOOPBACK, listener.answer(), "1").answer());
        assertEquals(0, files());
        assertFalse(SharedFolder.isConfigured(), "this process has no folder");
    }

    /** Without a folder only the network namespace and the user have to be the same. */
    @Test
    void withoutAFolderProcessesInOtherNamespacesMeet() throws Exception {
        List<String> container = List.of(container("--map-root-user"));
        assumeWorks(container("--map-root-user"));
        for (List<String> program : List.of(container, List.<String>of())) {
            Child listener = start(program, List.of(), "serve", LOOPBACK, "0");
            String port = listener.answer();
            assertEquals("done 1", start(container, List.of(), "connect", LOOPBACK, port, "1").answer());
            assertEquals(LOOPBACK + " 1", listener.answer());
        }
    }

    /** Nothing then shows that two connections lead to the same process, so each has its own view of the process. */
    @Test
    void withoutAFolderProcessesInOtherNamespacesAreNotRecognized() throws Exception {
        String[] container = container("--map-root-user");
        assumeWorks(container);
        String port = start(List.of(container), List.of(), "serve", LOOPBACK, "0").answer();
        assertEquals("done 3", start(List.of(container), List.of(), "connect", LOOPBACK, port, "3").answer());
    }

    // ---- what is left over

    @Test
    void theFilesOfAListenerGoWithIt() throws Exception {
        SharedFolder shared = SharedFolder.open(folder.toString());
        FolderNames names = new FolderNames(shared, User.current());
        InetSocketAddress address = new InetSocketAddress(LOOPBACK, 4711);
        ListeningSocket socket = names.listen(address, 16);
        assertTrue(names.exists(socket.name()));
        assertEquals(2, files(), "the socket and its lock");
        socket.close();
        assertFalse(names.exists(socket.name()));
        assertEquals(0, files());
    }

    @Test
    void theFilesOfAListenerHaveTheModeOfTheFolder() throws Exception {
        for (String mode : List.of("rwx------", "rwxrwx---")) {
            setMode(mode);
            FolderNames names = new FolderNames(SharedFolder.open(folder.toString()), User.current());
            ListeningSocket socket = names.listen(new InetSocketAddress(LOOPBACK, 4711), 16);
            for (String file : List.of(socket.name(), socket.name() + ".lock")) {
                assertEquals(mode.replace('x', '-'), PosixFilePermissions.toString(
                    Files.getPosixFilePermissions(folder.resolve(file))), file);
            }
            socket.close();
        }
    }

    /** Another user of the folder may have replaced the file. */
    @Test
    void theTargetOfALinkKeepsItsMode() throws Exception {
        Path target = Files.writeString(temporary.resolve("target"), "secret");
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("r--------"));
        Files.createSymbolicLink(folder.resolve("link"), target);
        SharedFolder shared = SharedFolder.open(folder.toString());
        assertThrows(RpmaException.class, () -> shared.openToOthers("link"));
        assertEquals("r--------", PosixFilePermissions.toString(Files.getPosixFilePermissions(target)));
    }

    @Test
    void aNameThatIsTakenIsRefusedAtOnce() throws Exception {
        SharedFolder shared = SharedFolder.open(folder.toString());
        FolderNames names = new FolderNames(shared, User.current());
        InetSocketAddress address = new InetSocketAddress(LOOPBACK, 4711);
        ListeningSocket socket = names.listen(address, 16);
        RpmaException failure = assertThrows(RpmaException.class, () -> names.listen(address, 16));
        assertEquals(Posix.EADDRINUSE, failure.errno());
        assertTrue(failure.getMessage().contains(folder + "/" + socket.name() + ".lock"), failure.getMessage());
        assertTrue(names.exists(socket.name()), "the socket on which the first listener listens");
        socket.close();
    }

    @Test
    void theNextListenerRemovesWhatADeadOneHasLeft() throws Exception {
        Child first = serve(List.of(), LOOPBACK);
        String port = first.answer();
        Child other = serve(List.of(), LOOPBACK);
        other.answer();
        assertEquals(4, files());
        first.process().destroyForcibly().waitFor();
        other.process().destroyForcibly().waitFor();
        assertEquals(4, files(), "the sockets of dead processes and their locks");
        Child second = start(List.of(), option(), "serve", LOOPBACK, port);
        assertEquals(port, second.answer(), "the same name again");
        assertEquals(2, files(), "only its own files");
        assertEquals("done 1", connect(List.of(), LOOPBACK, port, 1).answer());
    }

    // ---- folders that will not do

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "missing", "file"})
    void whatIsNoFolderIsRefused(String name) throws Exception {
        Files.writeString(temporary.resolve("file"), "no folder");
        String path = name.isBlank() ? name : temporary.resolve(name).toString();
        String answer = start(List.of(), List.of("-Dio.rpma.soft.directory=" + path), "serve", LOOPBACK, "0").answer();
        assertTrue(answer.startsWith("unavailable -Dio.rpma.soft.directory=" + path), answer);
    }

    @Test
    void aFolderThatEveryUserMayChangeIsRefused() throws Exception {
        setMode("rwxrwxrwx");
        String answer = serve(List.of(), LOOPBACK).answer();
        assertTrue(answer.startsWith("unavailable") && answer.contains("777") && answer.contains("chmod +t"), answer);
    }

    /** A container may start before the folder is mounted, or before another container has created it. */
    @Test
    void aFolderThatAppearsLaterIsUsedByTheNextAttempt() throws Exception {
        Files.delete(folder);
        Child listener = serve(List.of(), LOOPBACK);
        String missing = listener.answer();
        assertTrue(missing.startsWith("unavailable") && missing.contains("create it with the mode 2770"), missing);
        String stillMissing = listener.answerToNextAttempt();
        assertEquals(missing, stillMissing);
        Files.createDirectory(folder);
        setMode("rwxrwxrwx");
        String unsafe = listener.answerToNextAttempt();
        assertTrue(unsafe.startsWith("unavailable") && unsafe.contains("chmod +t"), unsafe);
        setMode("rwxrwx---");
        String port = listener.answerToNextAttempt();
        assertEquals(2, files(), () -> "the socket and its lock, after " + port);
        assertEquals("done 1", connect(List.of(), LOOPBACK, port, 1).answer());
        assertEquals(LOOPBACK + " 1", listener.answer());
    }

    @Test
    void aReadOnlyFolderIsForThoseWhoConnect() throws Exception {
        String[] container = container("--map-root-user");
        assumeWorks(container);
        List<String> readOnly = new ArrayList<>(List.of(container));
        readOnly.addAll(List.of("sh", "-c",
            "mount --bind " + folder + ' ' + folder + " && mount -o remount,bind,ro " + folder + " && exec \"$@\"", "sh"));
        String answer = serve(readOnly, LOOPBACK).answer();
        assertTrue(answer.startsWith("errno " + FileCalls.EROFS) && answer.contains("mount the folder with write access"),
            answer);
        String port = serve(List.of(), LOOPBACK).answer();
        assertEquals("done 1", connect(readOnly, LOOPBACK, port, 1).answer());
    }

    @Test
    void thePathMayBeLongerThanThatOfASocket() throws Exception {
        folder = Files.createDirectories(folder.resolve("a".repeat(200)).resolve("b".repeat(200)));
        setMode("rwx------");
        String port = serve(List.of(), LOOPBACK).answer();
        assertEquals("done 1", connect(List.of(), LOOPBACK, port, 1).answer());
    }
}
