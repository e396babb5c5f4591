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

package io.rpma.soft.shared;

import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests who has taken a receive that has not been completed when its entry of the ring is used for a later position. */
class PostedReceivesTest {
    private static final int CAPACITY = 2;
    private static final int X = 6;
    private static final int Y = 8;

    private SharedReceives initiator;
    private PostedReceives posted;
    private long ring;
    private int damages;

    private void create(int first) throws RpmaException {
        SharedMemory entries = SharedMemory.create("rpma-test", SharedReceives.postedSize(CAPACITY));
        SharedMemory words = SharedMemory.create("rpma-test", SharedReceives.size(CAPACITY));
        ring = entries.address();
        initiator = new SharedReceives(1, entries, words, CAPACITY, null);
        posted = new PostedReceives(CAPACITY, CAPACITY, ring, words.address(), first, count -> { }, () -> damages++);
    }

    @AfterEach
    void close() {
        initiator.close();
    }

    private void post() {
        assertTrue(posted.post(0, 0, 0, 0));
    }

    /** Takes the next receive as the queue pair with an index. Returns its slot. */
    private int take(int index) {
        long found = initiator.find();
        int slot = Memory.getInt(initiator.entry(found) + ReceiveEntry.SLOT);
        assertTrue(initiator.take(found, index));
        return slot;
    }

    private void complete(int slot) {
        assertTrue(posted.unpost(slot, posted.state(slot)));
        posted.push(slot);
    }

    /** The first position is a random number, so any position may be the one of a slot whose taker has never been noted. */
    @ParameterizedTest
    @ValueSource(ints = {-1, -2, -3, 0, 1, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void theTakerOfAReceiveIsKnownAfterItsEntryHasBeenUsedAgain(int first) throws Exception {
        create(first);
        post();
        post();
        int slot = take(X);
        complete(take(Y));
        post();
        assertEquals(X + 1, posted.takerOf(slot, first));
        assertEquals(Y + 1, SharedReceives.taker(posted.takeOf(first + 1)));
        take(Y);
        assertEquals(X + 1, posted.takerOf(slot, first));
        assertEquals(0, damages);
    }
}
