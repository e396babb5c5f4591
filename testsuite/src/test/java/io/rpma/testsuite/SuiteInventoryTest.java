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
package io.rpma.testsuite;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests that nothing of Netty's suite is left out, disabled or replaced without a reason, including the additions of newer
 * versions of Netty.
 */
class SuiteInventoryTest {
    @Test
    void everyClassOfTheSuiteIsRunOrOutOfScopeForAReason() {
        Set<String> covered = new HashSet<>(SuiteInventory.OUT_OF_SCOPE.keySet());
        for (Class<?> ours : SuiteInventory.classesOfOurs()) {
            if (SuiteInventory.isNettys(ours)) {
                assertTrue(covered.add(SuiteInventory.nettysName(ours)), () -> "twice: " + ours);
            }
        }
        List<String> nettys = SuiteInventory.classesOfNetty();
        assertTrue(nettys.size() > 50, () -> "the suite was not found where it was expected; only found " + nettys);
        List<String> missing = nettys.stream().map(name -> name.substring(name.lastIndexOf('.') + 1))
            .filter(name -> !covered.contains(name)).toList();
        assertEquals(List.of(), missing);
    }

    @Test
    void nothingIsDisabledByUs() {
        for (Class<?> ours : SuiteInventory.classesOfOurs()) {
            assertFalse(ours.isAnnotationPresent(Disabled.class), ours::toString);
            for (Method method : ours.getDeclaredMethods()) {
                assertFalse(method.isAnnotationPresent(Disabled.class), method::toString);
            }
        }
    }

    @Test
    void everyOverrideGivesItsReason() {
        int overrides = 0;
        for (Class<?> ours : SuiteInventory.classesOfOurs()) {
            for (Method method : SuiteInventory.overrides(ours)) {
                assertTrue(method.isAnnotationPresent(SuiteOverride.class), method::toString);
                assertFalse(method.getAnnotation(SuiteOverride.class).value().isBlank(), method::toString);
                overrides++;
            }
        }
        assertTrue(overrides > 0, "no override with a replaced peer was found");
    }
}
