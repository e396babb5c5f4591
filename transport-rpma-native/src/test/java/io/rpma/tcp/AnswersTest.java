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
}
