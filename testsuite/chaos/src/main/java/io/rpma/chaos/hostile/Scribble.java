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
 * Writes random words into the shared memory that its connections give it: the halves of its connections, the server's shared
 * receive queues, its own table of regions; at any place, and at the words that are in use. What the server shares for reading,
 * as its table of regions, must not become writable.
 *
 * <p>All of a process's registered memory is open to the processes of its user, by design. So the memory that regions lie in is
 * left alone, and so is everything while this process is in the middle of an operation there: a process that denies that it is
 * writing to a buffer makes the server give that buffer to others, which is the same as writing to their buffers.
 */
final class Scribble implements Attack {
    /** How many words one connection is overwritten with, and how many of them are told of at once. */
    private static final int FEWEST = 100;
    private static final int MOST = 1600;
    private static final int PORTION = 100;
    /** How many words are overwritten between two messages of its own. */
    private static final int STEP = 16;
    private static final int LOOKS = 64;
    private static final int HEAD_BYTES = 1024;

    private SplittableRandom random;

    @Override
    public void run(Addresses addresses, SplittableRandom from, long end) throws Exception {
        random = from;
        HostileMain.say("ready");
        OwnSockets own = new OwnSockets(addresses);
        do {
            if (!own.connect()) {
                // What it has written has broken this process itself.
                return;
            }
            // Without its own table it cannot send for long.
            boolean ownTable = random.nextInt(8) == 0;
            List<Mappings.Mapping> targets = new ArrayList<>();
            int refused = 0;
            for (Mappings.Mapping mapping : Mappings.now()) {
                if (!mapping.writable()) {
                    if (mapping.makeWritable()) {
                        HostileMain.say("wrong what the server shares for reading can be made writable: " + mapping.name());
                    } else {
                        refused++;
                    }
                } else if (mapping.writable() && !mapping.name().startsWith("range")
                    && (ownTable || !mapping.name().equals("regions"))) {
                    targets.add(mapping);
                }
            }
            HostileMain.say("count " + refused);
            int portions = random.nextInt(FEWEST / PORTION, MOST / PORTION + 1);
            for (int i = 0; i < portions; i++) {
                // Told before it is done: this process may not live to tell.
                HostileMain.say("count " + PORTION);
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
            // A word that is in use.
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
