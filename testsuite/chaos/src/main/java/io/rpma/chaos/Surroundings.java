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

package io.rpma.chaos;

import io.rpma.chaos.cases.ChaosCase;
import io.rpma.chaos.hostile.HostileMain;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The environment of a case: the server, the neighbours that communicate with it, and the process that measures the pauses of the
 * machine.
 */
public final class Surroundings implements AutoCloseable {
    private static final long SETTLING_MILLIS = 15_000;
    /**
     * How much more memory may be in use for each path after equal cases: threads that are not event loops, such as those that
     * connect on a device, keep free buffers of their own, up to 1 MiB of each size.
     */
    private static final long CACHED_BYTES = 2 << 20;

    private final String provider;
    private final Path logs;
    private final Path archive;
    private final Ledger ledger;
    private final Pauses machine = new Pauses();
    private final Queue<String> pauses = new ConcurrentLinkedQueue<>();
    private final Child meter;
    private Child server;
    private Child neighbour;
    private ServerStatus before;
    private List<Addresses> paths;
    private Ledger.Row row;
    private Path publicClassPath;
    private final List<Child> hostile = new ArrayList<>();

    /**
     * Begins to measure the machine.
     *
     * @param provider the provider of the server
     * @param allLogs the folder of all logs, in which each provider has a folder of its own: runs with different providers can
     *        take place at the same time
     * @param ledger what happened so far
     */
    Surroundings(String provider, Path allLogs, Ledger ledger) throws IOException, InterruptedException {
        this.provider = provider;
        logs = Files.createDirectories(allLogs.resolve(provider));
        archive = allLogs.toAbsolutePath().resolveSibling("hostile.jsa");
        this.ledger = ledger;
        try (var old = Files.newDirectoryStream(logs, "*.log")) {
            for (Path log : old) {
                Files.delete(log);
            }
        }
        meter = child("meter", List.of("-XX:TieredStopAtLevel=1", "-Xmx16m"), HiccupMain.class, List.of(), this::gap);
        meter.expect("ready");
    }

    private Child child(String name, List<String> options, Class<?> main, List<String> arguments, Predicate<String> consumer)
            throws IOException {
        return child(name, provider, List.of(), options, main, arguments, consumer);
    }

    private Child child(String name, String ofProvider, List<String> prefix, List<String> options, Class<?> main,
            List<String> arguments, Predicate<String> consumer) throws IOException {
        List<String> all = new ArrayList<>(List.of("-Dio.rpma.provider=" + ofProvider));
        all.addAll(options);
        return Child.start(name, prefix, all, main, arguments, logs.resolve(name + ".log"), consumer);
    }

    private boolean gap(String line) {
        String[] words = line.split(" ");
        if (words[0].equals("gap")) {
            machine.add(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
            return true;
        }
        return false;
    }

    /** Handles the lines that the lanes of neighbours print while they run. */
    private boolean lane(String line) {
        String[] words = line.split(" ", 4);
        switch (words[0]) {
            case "pause" -> pauses.add(line);
            case "failure" -> System.out.println("    " + line);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Records the pauses of a turn, after the measuring process has reported all pauses of the machine during that time. */
    private void enterPauses() {
        String line = pauses.poll();
        while (line != null) {
            String[] words = line.split(" ");
            long from = Long.parseLong(words[2]);
            long to = Long.parseLong(words[3]);
            // The last word is how long the two event loops were ready to run and waited for a processor.
            double excess = Math.min(machine.excess(from, to), to - from - Long.parseLong(words[4])) / 1e6;
            row.paused((to - from) / 1e6, excess);
            if (excess > ledger.limitMillis()) {
                System.out.printf("    pause of %s: %.1f ms, %.1f ms of which the machine does not explain%n", words[1],
                    (to - from) / 1e6, excess);
            }
            line = pauses.poll();
        }
    }

    private void start() throws IOException, InterruptedException {
        server = child("server", List.of("-Xmx256m",
            "-XX:+ExitOnOutOfMemoryError", "-Dio.rpma.netty.maxRegisteredBytes=" + (256 << 20)), ServerMain.class, List.of(),
            this::lane);
        paths = new ArrayList<>();
        for (int left = Integer.parseInt(server.expect("paths")); left > 0; left--) {
            paths.add(Addresses.parse(server.expect("addresses").split(" "), 0));
        }
        System.out.println("the server listens on " + paths.stream().map(Addresses::name).toList());
        neighbour = child("neighbour", List.of("-Xmx256m", "-Dio.rpma.netty.maxRegisteredBytes=" + (128 << 20)),
            NeighbourMain.class, paths.stream().flatMap(path -> path.arguments().stream()).toList(), this::lane);
        neighbour.expect("ready");
        archive();
        // Resources that are allocated once and then kept must not count as leaks, so each lane and a crowd of connections run
        // once before the first measurement. No process attacks yet, but exchanges can already be lost.
        row = ledger.row("warm-up");
        exchange();
        before = settled(null);
        crowd();
        before = settled(null).atLeast(before).withRoom(CACHED_BYTES * paths.size());
        server.order("descriptors");
    }

    /** Creates an archive of the classes that hostile processes need, so that a thousand of these processes can be started. */
    private void archive() throws IOException, InterruptedException {
        Path jar = Path.of(Child.classPath().split(":")[0]);
        if (!Files.isRegularFile(jar) || Files.exists(archive)
            && Files.getLastModifiedTime(archive).compareTo(Files.getLastModifiedTime(jar)) > 0
            || !Files.isWritable(archive.getParent()) || System.getenv("RPMA_SOFTROCE_RESULTS") != null) {
            return;
        }
        Files.deleteIfExists(archive);
        Addresses path = paths.getFirst();
        try (Child once = child("archive", path.provider(), List.of(), List.of("-XX:ArchiveClassesAtExit=" + archive,
            "-Xlog:cds=off", "-Xlog:aot=off", "-Xmx256m"), HostileMain.class, arguments(path, "crowd", 10_000, 0),
            line -> false)) {
            once.expect("done");
            while (once.next(20_000) != null) {
                // The process ends when it has written the archive.
            }
        }
    }

    private static List<String> arguments(Addresses path, String attack, long millis, long seed) {
        List<String> all = new ArrayList<>(List.of(attack, String.valueOf(millis), String.valueOf(seed)));
        all.addAll(path.arguments());
        return all;
    }

    /**
     * Starts a hostile process that connects to the server.
     *
     * @param path the path on which it connects
     * @param attack the name of the attack
     * @param millis the duration, unless the process is ended earlier
     * @param seed the seed of the random decisions
     * @param options additional options of the virtual machine
     */
    public Child hostile(Addresses path, String attack, long millis, long seed, String... options) throws IOException {
        return hostile(path, attack, List.of(), millis, seed, options);
    }

    /** Starts a hostile process by a command that first sets limits or changes the user. */
    public Child hostile(Addresses path, String attack, List<String> prefix, long millis, long seed, String... options)
            throws IOException {
        List<String> all = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-Xmx64m", "-Xlog:disable", "-Xlog:all=off",
            "-Dio.rpma.netty.maxRegisteredBytes=" + (192 << 20), "-XX:ErrorFile=/dev/null", "-XX:-CreateCoredumpOnCrash"));
        if (Files.exists(archive)) {
            all.add("-XX:SharedArchiveFile=" + archive);
        }
        all.addAll(List.of(options));
        Child child = child("hostile-" + attack, path.provider(), prefix, all, HostileMain.class,
            arguments(path, attack, millis, seed), line -> false);
        hostile.add(child);
        return child;
    }

    /** Removes a hostile process that has been ended. */
    public void ended(Child child) {
        hostile.remove(child);
    }

    /** Returns the process of the server. */
    public Child server() {
        return server;
    }

    /** Returns the folder of the log files. */
    public Path logs() {
        return logs;
    }

    /** Returns the addresses of the server on each path that a case attacks, at least one. */
    public List<Addresses> paths(ChaosCase chaosCase) {
        return paths.stream().filter(path -> chaosCase.runsOn(path.provider())).toList();
    }

    /** Stops the neighbours from making new connections for a while. Their existing connections continue. */
    public void holdConnects() throws IOException, InterruptedException {
        neighbour.order("hold");
        neighbour.expect("held");
    }

    /** Allows the neighbours to make new connections again. */
    public void allowConnects() throws IOException, InterruptedException {
        neighbour.order("go on");
        neighbour.expect("on");
    }

    /** Returns a class path that all users can read. */
    public String publicClassPath() throws IOException {
        if (publicClassPath == null) {
            publicClassPath = Files.createTempDirectory("chaos",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
            for (String jar : Child.classPath().split(File.pathSeparator)) {
                Path copy = Files.copy(Path.of(jar), publicClassPath.resolve(Path.of(jar).getFileName()));
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
            }
        }
        return publicClassPath + "/*";
    }

    /** Counts the hostile actions against the server on a path in this turn. */
    public void count(Addresses path, long more) {
        row.count(path.name(), more);
    }

    /** Reports that the case itself has found an error, which counts as a loss. */
    public void failed(String what) {
        System.out.println("    failure: " + what);
        row.failed();
    }

    /** Prints what a hostile process has done. */
    public void tell(String what) {
        System.out.println("    " + what);
    }

    Pauses machine() {
        return machine;
    }

    private void traffic() throws IOException, InterruptedException {
        server.order("start");
        neighbour.order("start");
        server.expect("started");
        neighbour.expect("started");
    }

    /** Stops the traffic of the neighbours, and counts it. */
    private void drain() throws IOException, InterruptedException {
        server.order("stop");
        neighbour.order("stop");
        for (Child child : List.of(server, neighbour)) {
            for (int left = paths.size(); left > 0; left--) {
                String[] words = child.expect("report").split(" ");
                row.traffic(words[0], Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
            }
        }
    }

    /**
     * Requests the status of the server until its resources are back to the expected ones or the time limit is reached. Returns
     * the last status.
     */
    private ServerStatus settled(ServerStatus expected) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SETTLING_MILLIS);
        ServerStatus previous = null;
        for (;;) {
            ServerStatus status = status();
            boolean done = expected == null ? status.equals(previous) && status.connections() == 0
                : status.isNoMoreThan(expected);
            if (done || System.nanoTime() > end) {
                return status;
            }
            previous = status;
            // The memory of a peer is unmapped one second after its last connection has closed. No event reports this.
            TimeUnit.MILLISECONDS.sleep(expected == null ? 2500 : 250);
        }
    }

    /** Requests the status of the server. */
    public ServerStatus status() throws IOException, InterruptedException {
        server.order("status");
        return ServerStatus.parse(server.expect("status"));
    }

    /** Runs one case while there is traffic, and records its costs in the table. */
    void run(Schedule.Turn turn, String position) throws Exception {
        String name = turn.chaosCase().name();
        if (server == null) {
            start();
        }
        System.out.printf("%s %s for %.1f s%n", position, name, turn.millis() / 1000.0);
        pauses.clear();
        row = ledger.row(name);
        row.expect(paths(turn.chaosCase()).stream().map(Addresses::name).toList(), paths.stream().map(Addresses::name).toList());
        long lossesBefore = row.losses();
        try {
            traffic();
            try {
                turn.chaosCase().run(this, new SplittableRandom(turn.seed()), System.nanoTime() + turn.millis() * 1_000_000);
            } finally {
                killHostile();
            }
            drain();
            compare();
        } catch (IOException e) {
            System.out.println("    the server or the neighbour is lost: " + e.getMessage());
            row.failed();
            dump(server, "server");
            dump(neighbour, "neighbour");
            end();
        }
        enterPauses();
        if (server != null && row.losses() > lossesBefore) {
            // The server and the neighbour are replaced, so that the next case is not blamed for their persistent damage.
            end();
        }
        System.out.print("    " + ledger.line(name));
        row = null;
    }

    /** Compares the resources of the server with those before all turns, after an equal crowd of connections. */
    void finish() throws IOException, InterruptedException {
        if (server != null) {
            row = ledger.row("whole run");
            exchange();
            compare();
            enterPauses();
            row = null;
        }
    }

    /** Lets the neighbours exchange data for a second without an attack, then connects a crowd on each path. */
    private void exchange() throws IOException, InterruptedException {
        traffic();
        TimeUnit.MILLISECONDS.sleep(1000);
        drain();
        crowd();
        for (Addresses path : paths) {
            row.count(path.name(), 1);
        }
    }

    private void end() {
        server.kill();
        if (neighbour != null) {
            neighbour.kill();
        }
        server = null;
    }

    private void crowd() throws IOException, InterruptedException {
        for (Addresses path : paths) {
            try (Child crowd = hostile(path, "crowd", 20_000, 0)) {
                crowd.expect("done");
            }
        }
        hostile.clear();
    }

    private void killHostile() {
        for (Child child : hostile) {
            child.kill();
        }
        hostile.clear();
    }

    private void compare() throws IOException, InterruptedException {
        ServerStatus after = settled(before);
        if (!after.isNoMoreThan(before)) {
            System.out.println("    before: " + before + ", after: " + after);
            server.order("descriptors");
            row.leaked(before, after);
            before = after.atLeast(before);
        }
    }

    /** Writes the stacks of a process that does not answer to its log. */
    private void dump(Child child, String name) throws IOException, InterruptedException {
        if (child.isAlive()) {
            new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jstack").toString(), String.valueOf(child.pid()))
                .redirectOutput(logs.resolve(name + "-stacks.log").toFile()).redirectErrorStream(true).start()
                .waitFor(20, TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        killHostile();
        meter.kill();
        if (publicClassPath != null) {
            try (var jars = Files.newDirectoryStream(publicClassPath)) {
                for (Path jar : jars) {
                    Files.delete(jar);
                }
                Files.delete(publicClassPath);
            } catch (IOException e) {
                System.err.println("cannot delete " + publicClassPath + ": " + e);
            }
        }
        if (server != null) {
            end();
        }
    }
}
