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

/**
 * A neighbour on one path of the server: connections with verified traffic, on one event loop. The counts are those of the last
 * traffic.
 */
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
     * Creates a neighbour without traffic.
     *
     * @param process the name of its process for messages
     * @param whole whether to create a lane of each kind
     */
    Neighbour(String process, Addresses addresses, boolean whole) {
        name = process + '.' + addresses.name();
        this.addresses = addresses;
        this.whole = whole;
    }

    /** Connects the lanes. */
    void start() throws Exception {
        RunDelay server = RunDelay.of(addresses.loop());
        List<Lane> started = new ArrayList<>();
        started.add(new StreamLane(name + ".short", addresses.path(), addresses.stream(), 1, LONGEST_SHORT, server, 2));
        started.add(new StreamLane(name + ".long", addresses.path(), addresses.stream(), SHORTEST_LONG, LONGEST_LONG, server,
            20));
        started.add(new MessageLane(name + ".message", addresses, server, 3));
        if (whole) {
            started.add(new RegionLane(name + ".region", addresses, server, 5));
            probe = newProbe();
            started.add(probe);
        }
        for (Lane lane : started) {
            lane.start(group.next(), System.out::println);
        }
        lanes = started;
    }

    private Lane newProbe() {
        return new ProbeLane(name + ".connect", addresses, RunDelay.of(addresses.loop()), 50);
    }

    /** Makes no new connections until {@link #goOn()} is called. */
    void hold() throws Exception {
        probe.stop().sync();
    }

    /** Makes new connections again. */
    void goOn() throws Exception {
        probe = newProbe();
        probe.start(group.next(), System.out::println);
        lanes.add(probe);
    }

    /** Stops the lanes when everything that they have sent has come back. Returns the futures of their ends. */
    List<Future<Void>> stop() {
        return lanes.stream().map(Lane::stop).toList();
    }

    /** Returns {@code PATH EXCHANGES LOST CORRUPT} of the lanes, which have been stopped, and forgets them. */
    String report() {
        String counts = addresses.name() + ' ' + lanes.stream().mapToLong(Lane::exchanges).sum() + ' '
            + lanes.stream().mapToLong(Lane::lost).sum() + ' ' + lanes.stream().mapToLong(Lane::corrupt).sum();
        lanes = List.of();
        return counts;
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
