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

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A well-behaved process with verified traffic. It reads orders from its standard input: {@code start}, {@code hold}, {@code go
 * on}, {@code stop}.
 */
final class NeighbourMain {
    private NeighbourMain() {
    }

    /** Communicates with the server that the arguments name until the standard input ends. */
    public static void main(String[] arguments) throws Exception {
        try (Neighbours neighbours = new Neighbours("beside", Addresses.parseAll(arguments), true)) {
            System.out.println("ready");
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                switch (order) {
                    case "start" -> neighbours.start();
                    case "hold" -> neighbours.hold();
                    case "go on" -> neighbours.goOn();
                    case "stop" -> neighbours.stop();
                    default -> throw new IllegalArgumentException(order);
                }
            }
        }
        System.exit(0);
    }
}
