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

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Tests that the table is clean if everything that must be zero is zero, and not otherwise. */
class LedgerTest {
    private static final ServerStatus BEFORE = ServerStatus.parse("10 20 8192 4096 5");

    private final Ledger ledger = new Ledger(100);

    private Ledger.Row busy(String name) {
        Ledger.Row row = ledger.row(name);
        row.count("tcp", 3);
        row.traffic("tcp", 1000, 0, 0);
        return row;
    }

    @Test
    void cleanIfNothingHappenedToOthers() {
        Ledger.Row row = busy("kill");
        row.leaked(BEFORE, ServerStatus.parse("9 18 0 0 4"));
        row.paused(350, 99);
        busy("stop");
        assertTrue(ledger.isClean());
        assertFalse(ledger.table().contains("<<<"));
    }

    private static Consumer<Ledger.Row> leaked(String after) {
        return row -> row.leaked(BEFORE, ServerStatus.parse(after));
    }

    static Stream<Arguments> findings() {
        return Stream.of(
            arguments("lost", (Consumer<Ledger.Row>) row -> row.traffic("tcp", 1, 1, 0)),
            arguments("corrupt", (Consumer<Ledger.Row>) row -> row.traffic("tcp", 1, 0, 1)),
            arguments("a failure that the case itself found", (Consumer<Ledger.Row>) Ledger.Row::failed),
            arguments("a descriptor", leaked("11 20 8192 4096 5")),
            arguments("a thread", leaked("10 21 8192 4096 5")),
            arguments("a byte", leaked("10 20 8193 4096 5")),
            arguments("a byte of mapped memory", leaked("10 20 8192 4097 5")),
            arguments("a byte of mapped memory, while less memory is in use", leaked("10 20 0 4097 5")),
            arguments("a byte, while less memory is mapped", leaked("10 20 8193 0 5")),
            arguments("a connection", leaked("10 20 8192 4096 6")),
            arguments("a pause", (Consumer<Ledger.Row>) row -> row.paused(500, 101)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("findings")
    void notCleanIf(String name, Consumer<Ledger.Row> finding) {
        busy("other");
        finding.accept(busy("kill"));
        assertFalse(ledger.isClean(), name);
        assertEquals(1, ledger.table().lines().filter(line -> line.startsWith("kill ") && line.endsWith("<<<")).count());
        assertTrue(ledger.row("kill").losses() <= 1);
    }

    @Test
    void notCleanIfACaseDidNothing() {
        busy("kill");
        ledger.row("stop").traffic("tcp", 1000, 0, 0);
        assertFalse(ledger.isClean());
    }

    @Test
    void notCleanIfTheNeighboursDidNothing() {
        ledger.row("kill").count("tcp", 1);
        assertFalse(ledger.isClean());
    }

    @Test
    void cleanIfEveryPathWasAttackedAndUsed() {
        Ledger.Row row = busy("kill");
        row.expect(List.of("tcp"), List.of("tcp", "shared-memory"));
        row.traffic("shared-memory", 1, 0, 0);
        assertTrue(ledger.isClean());
    }

    @Test
    void notCleanIfAPathWasNotAttacked() {
        Ledger.Row row = busy("kill");
        row.expect(List.of("tcp", "shared-memory"), List.of("tcp"));
        assertFalse(ledger.isClean());
    }

    @Test
    void notCleanIfTheNeighboursOfAPathDidNothing() {
        Ledger.Row row = busy("kill");
        row.expect(List.of("tcp"), List.of("tcp", "shared-memory"));
        assertFalse(ledger.isClean());
    }

    @Test
    void notCleanIfNothingRan() {
        assertFalse(ledger.isClean());
    }
}
