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
 * Runs a hostile process that attacks by itself, on one path after another. A process that does not survive its own attack is
 * replaced.
 */
final class AttackCase implements ChaosCase {
    private static final long SILENCE_MILLIS = 40_000;

    private final String attack;
    private final int weight;
    private final boolean mayFail;
    private final List<String> providers;

    /** Creates the case of an attack by processes that may fail, because they also damage what they need themselves. */
    static AttackCase harmingItself(String attack, int weight, String... providers) {
        return new AttackCase(attack, weight, true, providers);
    }

    AttackCase(String attack, int weight, String... providers) {
        this(attack, weight, false, providers);
    }

    private AttackCase(String attack, int weight, boolean mayFail, String... providers) {
        this.mayFail = mayFail;
        this.attack = attack;
        this.weight = weight;
        this.providers = List.of(providers);
    }

    @Override
    public String name() {
        return attack;
    }

    @Override
    public int weight() {
        return weight;
    }

    @Override
    public boolean runsOn(String provider) {
        return providers.contains(provider);
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        List<Addresses> paths = surroundings.paths(this);
        for (int i = 0; i < paths.size(); i++) {
            long now = System.nanoTime();
            attack(surroundings, paths.get(i), random, now + (end - now) / (paths.size() - i));
        }
    }

    private void attack(Surroundings surroundings, Addresses path, SplittableRandom random, long end) throws Exception {
        IdleAttacks idle = new IdleAttacks(attack, surroundings::failed);
        do {
            Child child = surroundings.hostile(path, attack, Math.max(0, end - System.nanoTime()) / 1_000_000, random.nextLong(),
                attack.equals("frames") ? "-XX:TieredStopAtLevel=4" : "-XX:TieredStopAtLevel=1");
            long actions = listen(child, path, surroundings, mayFail);
            child.kill();
            surroundings.ended(child);
            idle.ended(actions);
        } while (System.nanoTime() < end);
    }

    /**
     * Counts the actions of a hostile process on a path until it ends. Returns their number.
     *
     * @param mayFail whether the process may end with an error. Otherwise that is a failure, because it may not have attacked
     */
    static long listen(Child child, Addresses path, Surroundings surroundings, boolean mayFail) throws InterruptedException {
        long actions = 0;
        String line = child.next(SILENCE_MILLIS);
        for (; line != null && !line.equals("done"); line = child.next(SILENCE_MILLIS)) {
            if (line.startsWith("count ")) {
                long more = Long.parseLong(line.substring(6));
                surroundings.count(path, more);
                actions += more;
            } else if (line.startsWith("wrong ")) {
                surroundings.failed(line.substring(6));
            } else if (line.startsWith("did ")) {
                surroundings.tell(line);
            }
        }
        if (line == null && !mayFail) {
            surroundings.failed(child.end(SILENCE_MILLIS) + "; see its log");
        }
        return actions;
    }
}
