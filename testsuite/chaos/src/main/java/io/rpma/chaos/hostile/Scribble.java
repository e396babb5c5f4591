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

import io.rpma.chaos.Addresses;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Writes random words to the shared memory of its connections: its halves of the connections, the server's shared receive queues,
 * and its own table of regions. It writes both to arbitrary places and to words that are in use. Memory that the server shares
 * for reading, such as its table of regions, must not become writable.
 *
 * <p>By design, the processes of a user have access to all registered memory of a process. The memory of regions is therefore not
 * attacked, and nothing is attacked while this process executes an operation there. If a process denies that it is writing to a
 * buffer, the server gives this buffer to others, which has the same effect as writing to their buffers.
 */
final class Scribble implements Attack {
    /**
     * How many words are overwritten for each connection (FEWEST to MOST), and how many of them are reported at once (PORTION).
     */
    private static final int FEWEST = 100;
    private static final int MOST = 1600;
    private static final int PORTION = 100;
    /** How many words are overwritten between two messages of this process. */
    private static final int STEP = 16;
    private static final int LOOKS = 64;
    private static final int HEAD_BYTES = 1024;

    private SplittableRandom random;

    @Override
    public void run(Addresses addresses, SplittableRandom from, long end) throws Exception {
        random = from;
        Report.say("ready");
        OwnSockets own = new OwnSockets(addresses);
        do {
            if (!own.connect()) {
                // The words that this process has overwritten have broken its own connections.
                return;
            }
            // Without its own table, this process cannot send for long.
            boolean ownTable = random.nextInt(8) == 0;
            List<Mappings.Mapping> targets = targets(Mappings.now(), ownTable);
            if (targets.isEmpty()) {
                return;
            }
            int portions = random.nextInt(FEWEST / PORTION, MOST / PORTION + 1);
            for (int i = 0; i < portions; i++) {
                // The count is reported first, because this process may not survive the action.
                Report.say("count " + PORTION);
                for (int left = PORTION; left > 0; left -= STEP) {
                    int step = Math.min(left, STEP);
                    if (!own.betweenOperations(() -> scribble(targets, step))) {
                        return;
                    }
                    own.touch();
                }
            }
            own.close();
        } while (System.nanoTime() < end);
    }

    /** Returns the memory that is attacked, after attempts to make the rest writable. */
    static List<Mappings.Mapping> targets(List<Mappings.Mapping> mappings, boolean ownTable) {
        List<Mappings.Mapping> targets = new ArrayList<>();
        int refused = 0;
        for (Mappings.Mapping mapping : mappings) {
            if (!mapping.writable()) {
                if (mapping.makeWritable()) {
                    Report.say("wrong what the server shares for reading can be made writable: " + mapping.name());
                } else {
                    refused++;
                }
            } else if (!mapping.name().startsWith("range") && (ownTable || !mapping.name().equals("regions"))) {
                targets.add(mapping);
            }
        }
        if (targets.isEmpty()) {
            Report.say("wrong none of the memory that the server shares for writing was found");
        }
        Report.say("count " + refused);
        return targets;
    }

    private void scribble(List<Mappings.Mapping> targets, int words) {
        Mappings.Mapping target = targets.get(random.nextInt(targets.size()));
        for (int i = 0; i < words; i++) {
            if (random.nextInt(8) == 0) {
                target = targets.get(random.nextInt(targets.size()));
            }
            scribble(target);
        }
    }

    private void scribble(Mappings.Mapping mapping) {
        long words = mapping.memory().byteSize() / 8;
        long word = random.nextLong(random.nextInt(3) == 0 ? Math.min(words, HEAD_BYTES / 8) : words);
        if (random.nextBoolean()) {
            // Searches for a word that is in use.
            for (int i = 0; i < LOOKS && mapping.memory().get(JAVA_LONG, word * 8) == 0; i++) {
                word = random.nextLong(words);
            }
        }
        long old = mapping.memory().get(JAVA_LONG, word * 8);
        mapping.memory().set(JAVA_LONG, word * 8, switch (random.nextInt(7)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> old + 1;
            case 3 -> old - 1;
            case 4 -> old ^ 1L << random.nextInt(64);
            case 5 -> random.nextInt(1 << 16);
            default -> random.nextLong();
        });
    }
}
