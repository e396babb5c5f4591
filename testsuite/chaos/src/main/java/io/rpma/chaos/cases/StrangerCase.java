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
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs processes of other users, including the user identifier that represents users without an identifier on this machine.
 * Requires root.
 */
final class StrangerCase implements ChaosCase {
    private static final List<String> USERS = List.of("12345", "65534");
    /** The first attack connects and takes names; the second one sends garbage to the listeners. */
    private static final List<String> ATTACKS = List.of("stranger", "strange-sockets");
    private static final long STAY_MILLIS = 4000;

    @Override
    public String name() {
        return "stranger";
    }

    @Override
    public int weight() {
        return 4;
    }

    @Override
    public boolean runsOn(String provider) {
        return provider.equals("soft") && System.getProperty("user.name").equals("root");
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        String readable = surroundings.publicClassPath();
        // The case attacks shared memory only.
        Addresses path = surroundings.paths(this).getFirst();
        int round = 0;
        IdleAttacks idle = new IdleAttacks(name(), surroundings::failed);
        while (System.nanoTime() < end) {
            String user = USERS.get(round++ % USERS.size());
            String attack = ATTACKS.get(random.nextInt(ATTACKS.size()));
            Child child = surroundings.hostile(path, attack, List.of("setpriv", "--reuid=" + user, "--regid=" + user,
                "--clear-groups"), STAY_MILLIS, random.nextLong(), "-cp", readable);
            long actions = AttackCase.listen(child, path, surroundings, false);
            child.kill();
            surroundings.ended(child);
            idle.ended(actions);
        }
    }
}
