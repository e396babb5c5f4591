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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that an increase of any number is a leak. */
class ServerStatusTest {
    private static final ServerStatus BEFORE = ServerStatus.parse("10 20 30 40 50");

    @Test
    void theSameAndLessAreNone() {
        assertTrue(BEFORE.isNoMoreThan(BEFORE));
        assertTrue(ServerStatus.parse("9 19 29 39 49").isNoMoreThan(BEFORE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"11 20 30 40 50", "10 21 30 40 50", "10 20 31 40 50", "10 20 30 41 50", "10 20 30 40 51"})
    void moreIsOne(String after) {
        assertFalse(ServerStatus.parse(after).isNoMoreThan(BEFORE));
    }
}
