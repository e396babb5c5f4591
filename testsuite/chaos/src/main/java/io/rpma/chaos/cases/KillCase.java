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
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Kills busy clients with {@code kill -9} at random times, on all paths in turn. In shared memory, every other client is killed
 * at a chosen place in the middle of an operation. The next client starts while the previous one is being killed.
 */
final class KillCase implements ChaosCase {
    private static final int STARTING = 3;
    private static final int LONGEST_LIFE_MILLIS = 150;
    private static final long REACHING_MILLIS = 2000;
    /** After this number of clients that were ordered to stop at a place, one must have reached it. */
    private static final int MOST_IN_VAIN = 20;

    @Override
    public String name() {
        return "kill";
    }

    @Override
    public int weight() {
        return 50;
    }

    /** A client that is to be killed, and the path that it is connected on. */
    private record Victim(Child child, Addresses path) {
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        List<Addresses> paths = surroundings.paths(this);
        Queue<Victim> starting = new ArrayDeque<>();
        int started = 0;
        int inVain = 0;
        for (int killed = 0; System.nanoTime() < end || killed < paths.size(); killed++) {
            while (starting.size() < STARTING) {
                Addresses path = paths.get(started++ % paths.size());
                starting.add(new Victim(surroundings.hostile(path, "traffic", TimeUnit.SECONDS.toMillis(600), random.nextLong(),
                    "-Dio.rpma.soft.faults=true"), path));
            }
            Addresses path = starting.element().path();
            Child victim = starting.remove().child();
            try {
                victim.expect("ready");
                if (path.provider().equals("soft") && random.nextBoolean()) {
                    String place = Places.any(random);
                    victim.order("stop " + place + ' ' + random.nextInt(1, 200));
                    inVain = ("at " + place).equals(victim.next(REACHING_MILLIS)) ? 0 : inVain + 1;
                    if (inVain == MOST_IN_VAIN) {
                        inVain = 0;
                        surroundings.failed(MOST_IN_VAIN + " clients in a row have not reached the place at which they were to"
                            + " be killed");
                    }
                } else {
                    TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE_MILLIS));
                }
            } catch (IOException e) {
                surroundings.failed("a client did not come to be killed: " + e.getMessage());
            }
            victim.kill();
            surroundings.ended(victim);
            surroundings.count(path, 1);
        }
        for (Victim left : starting) {
            left.child().kill();
            surroundings.ended(left.child());
        }
    }
}
