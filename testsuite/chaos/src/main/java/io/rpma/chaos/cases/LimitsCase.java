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

import io.rpma.chaos.Child;
import io.rpma.chaos.Surroundings;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Descriptors that run out, at the server and at clients: clients that connect and say nothing, a limit of the server that is
 * lowered to little more than it has open while clients come, and clients with a low limit of their own.
 */
final class LimitsCase implements ChaosCase {
    private static final int HALF_OPEN_MILLIS = 3000;
    private static final int SPARE = 6;
    private static final int STARVING_MILLIS = 1500;
    private static final int CLIENTS = 2;

    @Override
    public String name() {
        return "limits";
    }

    @Override
    public int weight() {
        return 8;
    }

    @Override
    public boolean runsOn(String provider) {
        return provider.equals("soft");
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        while (System.nanoTime() < end) {
            Child silent = surroundings.hostile("half-open", HALF_OPEN_MILLIS, random.nextLong());
            AttackCase.listen(silent, surroundings);
            silent.kill();
            surroundings.ended(silent);
            starve(surroundings, random);
        }
    }

    private static void starve(Surroundings surroundings, SplittableRandom random) throws Exception {
        surroundings.holdConnects();
        long open = surroundings.status().descriptors();
        String before = String.valueOf(Posix.softLimit(Posix.RLIMIT_NOFILE));
        limit(surroundings.server().pid(), String.valueOf(open + SPARE));
        List<Child> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(surroundings.hostile("traffic", 60_000, random.nextLong()));
            }
            String low = "--nofile=" + random.nextInt(30, 70);
            clients.add(surroundings.hostile("traffic", List.of("prlimit", low), 60_000, random.nextLong()));
            TimeUnit.MILLISECONDS.sleep(STARVING_MILLIS);
            surroundings.count(clients.size());
        } finally {
            for (Child client : clients) {
                client.kill();
                surroundings.ended(client);
            }
            limit(surroundings.server().pid(), before);
        }
        surroundings.allowConnects();
    }

    private static void limit(long pid, String soft) throws IOException, InterruptedException {
        // Nothing behind the colon: the hard limit stays.
        Process process = new ProcessBuilder("prlimit", "--pid", String.valueOf(pid), "--nofile=" + soft + ":").inheritIO()
            .start();
        if (process.waitFor() != 0) {
            throw new IOException("prlimit failed");
        }
    }
}
