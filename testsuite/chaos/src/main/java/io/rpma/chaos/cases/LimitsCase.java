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

package io.rpma.chaos.cases;

import io.rpma.chaos.Addresses;
import io.rpma.chaos.Child;
import io.rpma.chaos.Surroundings;
import io.rpma.chaos.hostile.HostileMain;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Exhausts descriptors and memory. If the server has shared memory among its paths, clients connect there and send nothing, and
 * the server's limits for open files or address space are lowered to little more than it uses while clients connect on all paths.
 * On every path, clients have low limits themselves: for open files, address space and, if memory is registered with a device,
 * locked memory.
 */
final class LimitsCase implements ChaosCase {
    private static final int HALF_OPEN_MILLIS = 3000;
    private static final int SPARE = 6;
    /** How much memory the server's virtual machine may need during this time. A client needs more than this. */
    private static final long SPARE_BYTES = 32 << 20;
    /** How long a client may take to start. The time during which the server starves begins afterwards. */
    private static final long START_MILLIS = 60_000;
    private static final int STARVING_MILLIS = 4000;
    private static final int CLIENTS = 2;
    private static final long TRAFFIC_MILLIS = 60_000;
    private static final long POOR_MILLIS = 20_000;
    private static final String NOBODY = "65534";
    private static final long LEAST_ADDRESSES = 450L << 20;
    private static final long MOST_ADDRESSES = 1200L << 20;
    /** With these options, the virtual machine itself starts within {@link #LEAST_ADDRESSES}. */
    private static final List<String> SMALL_MACHINE =
        List.of("-XX:CompressedClassSpaceSize=32m", "-XX:ReservedCodeCacheSize=24m");

    @Override
    public String name() {
        return "limits";
    }

    @Override
    public int weight() {
        return 6;
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        List<Addresses> paths = surroundings.paths(this);
        IdleAttacks idle = new IdleAttacks(name(), surroundings::failed);
        do {
            for (Addresses path : paths) {
                if (path.provider().equals("soft")) {
                    halfOpen(surroundings, path, random);
                    long open = surroundings.status().descriptors();
                    starve(surroundings, random, "--nofile=" + (open + SPARE), "--nofile="
                        + Posix.softLimit(Posix.RLIMIT_NOFILE));
                    starve(surroundings, random, "--as=" + (addressSpace(surroundings.server().pid()) + SPARE_BYTES),
                        "--as=unlimited");
                } else {
                    poor(surroundings, path, random, idle);
                }
            }
        } while (System.nanoTime() < end);
    }

    private static void halfOpen(Surroundings surroundings, Addresses path, SplittableRandom random) throws Exception {
        Child silent = surroundings.hostile(path, "half-open", HALF_OPEN_MILLIS, random.nextLong());
        if (AttackCase.listen(silent, path, surroundings, false) == 0) {
            surroundings.failed("none of the connections that send nothing was made");
        }
        silent.kill();
        surroundings.ended(silent);
    }

    /**
     * Starts well-behaved clients on all paths while the server has almost no resources left. The neighbours make no new
     * connections during this time.
     */
    private void starve(Surroundings surroundings, SplittableRandom random, String low, String before) throws Exception {
        surroundings.holdConnects();
        limit(surroundings.server().pid(), low);
        List<Addresses> paths = surroundings.paths(this);
        List<Child> clients = new ArrayList<>();
        try {
            for (int i = 0; i < Math.max(CLIENTS, paths.size()); i++) {
                clients.add(surroundings.hostile(paths.get(i % paths.size()), "traffic", TRAFFIC_MILLIS, random.nextLong()));
            }
            clients.add(poorClient(surroundings, paths.getFirst(), random));
            for (int i = 0; i < clients.size(); i++) {
                boolean begins = begins(clients.get(i));
                boolean isPoor = i == clients.size() - 1;
                if (begins) {
                    surroundings.count(isPoor ? paths.getFirst() : paths.get(i % paths.size()), 1);
                } else if (!isPoor) {
                    surroundings.failed("a client that was to connect to a server without resources has not started; see its"
                        + " log");
                }
            }
            // Waits until all clients have connected or failed, or the time limit is reached.
            long last = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STARVING_MILLIS);
            for (Child client : clients) {
                client.next(Math.max(0, (last - System.nanoTime()) / 1_000_000));
            }
        } finally {
            end(clients, surroundings);
            limit(surroundings.server().pid(), before);
        }
        // A server channel that ran out of descriptors retries after a while. From then on, clients must not notice anything.
        for (Addresses path : paths) {
            Child next = surroundings.hostile(path, "traffic", TRAFFIC_MILLIS, random.nextLong());
            try {
                next.expect("ready");
            } catch (IOException e) {
                surroundings.failed("the server takes no client on " + path.name() + " although it has enough again: "
                    + e.getMessage());
            }
            end(List.of(next), surroundings);
        }
        surroundings.allowConnects();
    }

    /** Starts one client that has few resources itself, and ends it after a while if it has not ended by then. */
    private static void poor(Surroundings surroundings, Addresses path, SplittableRandom random, IdleAttacks idle)
            throws Exception {
        Child client = poorClient(surroundings, path, random);
        long actions = begins(client) ? 1 : 0;
        if (actions > 0) {
            client.next(POOR_MILLIS);
        }
        surroundings.count(path, actions);
        end(List.of(client), surroundings);
        idle.ended(actions);
    }

    /** Waits until a client begins to connect. Returns whether it does; it may end before, because its limits are too low. */
    static boolean begins(Child client) throws InterruptedException {
        String line = client.next(START_MILLIS);
        // The virtual machine may print warnings about its limits before.
        while (line != null && !line.equals(HostileMain.CONNECTING)) {
            line = client.next(START_MILLIS);
        }
        return line != null;
    }

    private static Child poorClient(Surroundings surroundings, Addresses path, SplittableRandom random) throws IOException {
        List<String> limited = new ArrayList<>();
        List<String> options = new ArrayList<>();
        boolean root = System.getProperty("user.name").equals("root");
        switch (random.nextInt(path.provider().equals("soft") ? 2 : 3)) {
            case 0 -> limited.addAll(List.of("prlimit", "--nofile=" + random.nextInt(30, 70)));
            case 1 -> {
                limited.addAll(List.of("prlimit", "--as=" + random.nextLong(LEAST_ADDRESSES, MOST_ADDRESSES)));
                options.addAll(SMALL_MACHINE);
            }
            default -> {
                if (root) {
                    // The limit on locked memory does not apply to root.
                    limited.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
                    options.addAll(List.of("-cp", surroundings.publicClassPath()));
                }
                limited.addAll(List.of("prlimit", "--memlock=" + random.nextInt(64, 8192) * 1024L));
            }
        }
        return surroundings.hostile(path, "traffic", limited, TRAFFIC_MILLIS, random.nextLong(), options.toArray(String[]::new));
    }

    private static void end(List<Child> clients, Surroundings surroundings) {
        for (Child client : clients) {
            client.kill();
            surroundings.ended(client);
        }
    }

    /** Returns the size of the address space that a process uses, to which its limit applies. */
    private static long addressSpace(long pid) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            String line = lines.filter(each -> each.startsWith("VmSize:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
    }

    private static void limit(long pid, String soft) throws IOException, InterruptedException {
        // Without a value after the colon, the hard limit is not changed.
        Process process = new ProcessBuilder("prlimit", "--pid", String.valueOf(pid), soft + ":").inheritIO().start();
        if (process.waitFor() != 0) {
            throw new IOException("prlimit failed");
        }
    }
}
