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

import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * The neighbours of one process: one on each path of the server, all at the same time. Each method prints a line when it is
 * done.
 */
final class Neighbours implements AutoCloseable {
    private final List<Neighbour> all;

    /**
     * Creates neighbours without traffic.
     *
     * @param process the name of the process for messages
     * @param paths the addresses of the server on each path
     * @param whole whether to create lanes of each kind
     */
    Neighbours(String process, List<Addresses> paths, boolean whole) {
        all = paths.stream().map(path -> new Neighbour(process, path, whole)).toList();
    }

    /** Connects, and prints {@code started}. */
    void start() throws Exception {
        for (Neighbour each : all) {
            each.start();
        }
        System.out.println("started");
    }

    /** Makes no new connections until {@link #goOn()} is called, and prints {@code held}. */
    void hold() throws Exception {
        for (Neighbour each : all) {
            each.hold();
        }
        System.out.println("held");
    }

    /** Makes new connections again, and prints {@code on}. */
    void goOn() throws Exception {
        for (Neighbour each : all) {
            each.goOn();
        }
        System.out.println("on");
    }

    /**
     * Stops the traffic when everything that was sent has come back, and prints {@code report PATH EXCHANGES LOST CORRUPT} for
     * each path.
     */
    void stop() throws Exception {
        List<Future<Void>> ends = new ArrayList<>();
        for (Neighbour each : all) {
            ends.addAll(each.stop());
        }
        for (Future<Void> end : ends) {
            end.sync();
        }
        for (Neighbour each : all) {
            System.out.println("report " + each.report());
        }
    }

    @Override
    public void close() {
        all.forEach(Neighbour::close);
    }
}
