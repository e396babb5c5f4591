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
package io.rpma.tcp;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the queue of answers. */
class AnswersTest {
    /** A queue pair may fail, and discard its answers, while the frames of the first ones are already being sent. */
    @Test
    void anAnswerMayBeSentAfterAllHaveBeenDiscarded() {
        Answers answers = new Answers();
        assertTrue(answers.add(Wire.READ, 1, null, 0, 0));
        assertTrue(answers.add(Wire.READ, 2, null, 0, 0));
        answers.clear();
        answers.remove();
        assertTrue(answers.isEmpty());
        assertEquals(0, answers.count());
        assertTrue(answers.add(Wire.READ, 3, null, 0, 0));
        assertEquals(3, answers.number(0));
    }

    @Test
    void thoseToLaterRequestsCanBeRemoved() {
        Answers answers = new Answers();
        for (int number = 1; number <= 2 * Wire.MAX_READS; number += 2) {
            assertTrue(answers.add(Wire.READ, number, null, 0, 0));
        }
        answers.removeFrom(4);
        assertEquals(2, answers.count());
        assertEquals(3, answers.number(1));
        answers.persisted(0);
        answers.removeFrom(3);
        assertEquals(0, answers.persisted());
        answers.removeFrom(1);
        assertTrue(answers.isEmpty());
        assertEquals(Answers.PENDING, answers.persisted());
    }

    /** Answers wait in the order of arrival, however many there have been before and wherever in its memory the queue begins. */
    @Test
    void theOrderIsKeptWhenMoreAnswersWaitThanEverBefore() {
        for (int waiting = 1; waiting <= Wire.MAX_READS; waiting++) {
            Answers answers = new Answers();
            int next = 1;
            int oldest = 1;
            for (int most = 1; most <= waiting; most++) {
                while (answers.count() < most) {
                    assertTrue(answers.add(Wire.FLUSH_PERSISTENT, next, null, 2L * next, 3L * next));
                    next++;
                }
                assertEquals(Wire.FLUSH_PERSISTENT, answers.type(0));
                assertEquals(oldest, answers.number(0));
                answers.remove();
                oldest++;
            }
            for (int place = 0; place < answers.count(); place++) {
                assertEquals(oldest + place, answers.number(place));
                assertEquals(2L * (oldest + place), answers.address(place));
                assertEquals(3L * (oldest + place), answers.length(place));
            }
        }
    }

    @Test
    void noMoreWaitThanAPeerMayHaveOutstanding() {
        Answers answers = new Answers();
        for (int number = 1; number <= Wire.MAX_READS; number++) {
            assertTrue(answers.add(Wire.READ, number, null, 0, 0));
        }
        assertFalse(answers.add(Wire.READ, Wire.MAX_READS + 1, null, 0, 0));
        assertEquals(Wire.MAX_READS, answers.number(Wire.MAX_READS - 1));
    }
}
