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

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests when the time of a message that holds a receive has passed. */
class MessageDeadlineTest {
    private static final long LENGTH = 1 << 20;

    private final MessageDeadline deadline = new MessageDeadline();

    @Test
    void theTimeBeginsAtTheFirstCheck() {
        assertFalse(deadline.hasPassed(1, LENGTH, 0));
        assertTrue(deadline.hasPassed(1, LENGTH, 0));
    }

    @Test
    void theTimeIsNotShorter() {
        assertFalse(deadline.hasPassed(1, LENGTH, Long.MAX_VALUE));
        assertFalse(deadline.hasPassed(1, LENGTH, Long.MAX_VALUE));
    }

    @Test
    void anotherMessageHasItsOwnTime() {
        assertFalse(deadline.hasPassed(1, LENGTH, 0));
        assertFalse(deadline.hasPassed(2, LENGTH, 0));
        assertTrue(deadline.hasPassed(2, LENGTH, 0));
    }

    @Test
    void onlyEnoughProgressPostponesIt() {
        assertFalse(deadline.hasPassed(1, LENGTH, 0));
        long left = LENGTH - MessageDeadline.LEAST_BYTES;
        assertTrue(deadline.hasPassed(1, left + 1, 0));
        assertFalse(deadline.hasPassed(1, left, 0));
        assertTrue(deadline.hasPassed(1, left - 1, 0));
    }
}
