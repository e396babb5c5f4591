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
import io.rpma.chaos.Signals;
import io.rpma.chaos.Surroundings;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Sends {@code SIGSTOP} and later {@code SIGCONT} to busy clients on all paths, at random times or at a chosen place in the
 * middle of an operation. Some clients stay stopped for longer than the server keeps silent connections. When they continue,
 * their connection is closed and its memory may have been given to others.
 */
final class StopCase implements ChaosCase {
    private static final int CLIENTS = 5;
    private static final int SHORT_MILLIS = 300;
    private static final int LONG_MILLIS = 7500;

    private final boolean inside;

    /**
     * Creates the case.
     *
     * @param inside whether clients are stopped in the middle of an operation
     */
    StopCase(boolean inside) {
        this.inside = inside;
    }

    @Override
    public String name() {
        return inside ? "stop-inside" : "stop";
    }

    @Override
    public int weight() {
        return inside ? 9 : 6;
    }

    @Override
    public boolean runsOn(String provider) {
        return !inside || provider.equals("soft");
    }

    /** A client, the path that it is connected on, and the next action on it. */
    private static final class Client {
        private final Child child;
        private final Addresses path;
        /** Whether the client has been ordered to stop itself and has not reported yet that it does. */
        private boolean armed;
        /** The time at which the client continues; 0 while it runs. */
        private long goesOn;

        Client(Child child, Addresses path) {
            this.child = child;
            this.path = path;
        }
    }

    @Override
    public void run(Surroundings surroundings, SplittableRandom random, long end) throws Exception {
        List<Client> clients = new ArrayList<>();
        List<Addresses> paths = surroundings.paths(this);
        for (int i = 0; i < Math.max(CLIENTS, paths.size()); i++) {
            Addresses path = paths.get(i % paths.size());
            clients.add(new Client(surroundings.hostile(path, "traffic", 600_000, random.nextLong(),
                "-Dio.rpma.soft.faults=true"), path));
        }
        for (Client client : clients) {
            client.child.expect("ready");
        }
        // On machines where processes start slowly, the time is extended so that some stops can still happen.
        long last = Math.max(end, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONG_MILLIS));
        while (System.nanoTime() < last) {
            clients.removeIf(client -> hasEnded(client, surroundings));
            for (Client client : clients) {
                if (client.goesOn != 0) {
                    if (System.nanoTime() > client.goesOn) {
                        client.child.signal(Signals.CONT);
                        client.goesOn = 0;
                    }
                } else if (inside && !client.armed) {
                    client.child.order("stop " + Places.any(random) + ' ' + random.nextInt(1, 100));
                    client.armed = true;
                } else if (!inside || hasArrived(client.child)) {
                    stop(client, surroundings, random);
                }
            }
            // This waits for time to pass, not for an event.
            TimeUnit.MILLISECONDS.sleep(random.nextInt(20));
        }
        for (Client client : clients) {
            client.child.signal(Signals.CONT);
        }
    }

    /** Returns whether a client has ended, which is a failure, because these clients do nothing wrong and are not killed. */
    private static boolean hasEnded(Client client, Surroundings surroundings) {
        if (client.child.isAlive()) {
            return false;
        }
        surroundings.failed("a client on " + client.path.name() + " has ended by itself; see its log");
        surroundings.ended(client.child);
        return true;
    }

    private static boolean hasArrived(Child child) throws InterruptedException {
        String said = child.next(0);
        return said != null && said.startsWith("at ");
    }

    private void stop(Client client, Surroundings surroundings, SplittableRandom random) {
        if (!inside && !client.child.signal(Signals.STOP)) {
            return;
        }
        client.armed = false;
        surroundings.count(client.path, 1);
        boolean isLong = random.nextInt(5) < 2;
        client.goesOn = System.nanoTime() + random.nextInt(1, isLong ? LONG_MILLIS : SHORT_MILLIS) * 1_000_000L;
    }
}
