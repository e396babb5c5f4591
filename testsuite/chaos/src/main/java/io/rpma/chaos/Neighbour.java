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

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.rpma.netty.RpmaEventLoopGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The lanes of one process: connections to the server with verified traffic, on one event loop. */
final class Neighbour implements AutoCloseable {
    private static final int LONGEST_SHORT = 2048;
    private static final int SHORTEST_LONG = 300 << 10;
    private static final int LONGEST_LONG = 2 << 20;

    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final String name;
    private final Addresses addresses;
    private final boolean whole;
    private List<Lane> lanes = List.of();
    private Lane probe;

    /**
     * Creates the lanes.
     *
     * @param name the name of the process for messages
     * @param whole whether to create a lane of each kind
     */
    Neighbour(String name, Addresses addresses, boolean whole) {
        this.name = name;
        this.addresses = addresses;
        this.whole = whole;
    }

    /** Connects the lanes, and prints {@code started}. */
    void start() throws Exception {
        RunDelay server = RunDelay.of(addresses.loop());
        List<Lane> started = new ArrayList<>();
        started.add(new StreamLane(name + ".short", addresses.stream(), 1, LONGEST_SHORT, server, 2));
        started.add(new StreamLane(name + ".long", addresses.stream(), SHORTEST_LONG, LONGEST_LONG, server, 20));
        started.add(new MessageLane(name + ".message", addresses.message(), server, 3));
        if (whole) {
            started.add(new RegionLane(name + ".region", addresses, server, 5));
            probe = new ProbeLane(name + ".connect", addresses.stream(), server, 50);
            started.add(probe);
        }
        for (Lane lane : started) {
            lane.start(group.next(), System.out::println);
        }
        lanes = started;
        System.out.println("started");
    }

    /** Makes no new connections until {@link #goOn()} is called, and prints {@code held}. */
    void hold() throws Exception {
        probe.stop().sync();
        System.out.println("held");
    }

    /** Makes new connections again, and prints {@code on}. */
    void goOn() throws Exception {
        probe = new ProbeLane(name + ".connect", addresses.stream(), RunDelay.of(addresses.loop()), 50);
        probe.start(group.next(), System.out::println);
        lanes.add(probe);
        System.out.println("on");
    }

    /** Stops the lanes when everything that they have sent has come back, and prints {@code report EXCHANGES LOST CORRUPT}. */
    void stop() throws Exception {
        List<Future<Void>> ends = new ArrayList<>();
        for (Lane lane : lanes) {
            ends.add(lane.stop());
        }
        for (Future<Void> end : ends) {
            end.sync();
        }
        System.out.println("report " + lanes.stream().mapToLong(Lane::exchanges).sum() + ' '
            + lanes.stream().mapToLong(Lane::lost).sum() + ' ' + lanes.stream().mapToLong(Lane::corrupt).sum());
        lanes = List.of();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
