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

package io.rpma.chaos.hostile;

import io.rpma.Rpma;
import io.rpma.chaos.Addresses;
import java.util.SplittableRandom;

/**
 * A hostile process: {@code ATTACK MILLIS SEED}, followed by the {@link Addresses}. It prints {@code ready} when the attack has
 * begun, {@code count N} after every N actions, {@code wrong TEXT} for an error of the server, {@code did TEXT} for all that it
 * has done, and {@code done} at the end.
 */
public final class HostileMain {
    /** The line that the attack {@code traffic} prints before it attempts its first connection. */
    public static final String CONNECTING = "connecting";

    private HostileMain() {
    }

    /** Runs an attack. */
    public static void main(String[] arguments) throws Exception {
        // The provider is loaded first, because loading it may take long on a slow machine and must not shorten the attack.
        Rpma.provider();
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[2]));
        Addresses addresses = Addresses.parse(arguments, 3);
        Attack attack = switch (arguments[0]) {
            case "crowd" -> new Crowd();
            case "traffic" -> new Traffic();
            case "scribble" -> new Scribble();
            case "sockets" -> new Sockets(true);
            case "strange-sockets" -> new Sockets(false);
            case "descriptors" -> new Descriptors();
            case "wire" -> new Wires();
            case "frames" -> new Frames();
            case "violations" -> new Violations();
            case "half-open" -> new HalfOpen();
            case "stranger" -> new Stranger();
            default -> throw new IllegalArgumentException(arguments[0]);
        };
        int status = 1;
        try {
            attack.run(addresses, random, end);
            Report.say("done");
            status = 0;
        } catch (Exception | Error e) {
            e.printStackTrace();
        }
        // Threads of the attack may be blocked forever, so the process exits explicitly.
        System.exit(status);
    }
}
