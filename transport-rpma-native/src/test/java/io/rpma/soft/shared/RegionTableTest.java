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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the table of regions against a list of those that are registered. */
class RegionTableTest {
    private enum Step { ENTER, INVALIDATE, REMOVE }

    private record Call(Step step, int which, int usages, long address, long length, int range, long rangeOffset, int domain) {
    }

    /** A region with the call that registered it. */
    private record Region(int key, long stamp, Call call) {
    }

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(Arbitraries.of(Step.ENTER, Step.ENTER, Step.ENTER, Step.INVALIDATE, Step.REMOVE),
                Arbitraries.integers().greaterOrEqual(0), Arbitraries.integers(), Arbitraries.longs(), Arbitraries.longs(),
                Arbitraries.integers(), Arbitraries.longs(), Arbitraries.integers())
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(100);
    }

    @Property(tries = 200)
    void aKeyFindsItsRegionForAsLongAsThatIsRegisteredAndNeverAnother(@ForAll("calls") List<Call> calls) throws RpmaException {
        RegionTable table = new RegionTable();
        long address = table.memory().address();
        List<Region> valid = new ArrayList<>();
        List<Region> invalid = new ArrayList<>();
        List<Integer> old = new ArrayList<>();
        Set<Long> stamps = new HashSet<>();
        try {
            for (Call call : calls) {
                switch (call.step) {
                    case ENTER -> {
                        int key = table.enter(call.usages, call.address, call.length, call.range, call.rangeOffset, call.domain);
                        long stamp = RegionTable.read(address, key).stamp();
                        assertTrue(stamps.add(stamp), "each registration must have another stamp");
                        valid.add(new Region(key, stamp, call));
                    }
                    case INVALIDATE -> {
                        if (!valid.isEmpty()) {
                            Region region = valid.remove(call.which % valid.size());
                            table.invalidate(region.key);
                            invalid.add(region);
                            old.add(region.key);
                        }
                    }
                    case REMOVE -> {
                        if (!invalid.isEmpty()) {
                            table.remove(invalid.remove(call.which % invalid.size()).key);
                        }
                    }
                }
                valid.forEach(region -> assertEquals(entry(region), RegionTable.read(address, region.key)));
                old.forEach(key -> assertNull(RegionTable.read(address, key)));
                assertNull(RegionTable.read(address, RegionTable.NO_REGION));
                assertNull(RegionTable.read(address, RegionTable.BAD_KEY));
            }
        } finally {
            table.memory().release();
        }
    }

    private static RegionTable.Entry entry(Region region) {
        Call call = region.call;
        return new RegionTable.Entry(region.stamp, call.usages, call.address, call.length, call.range, call.rangeOffset,
            call.domain);
    }

    @Test
    void noRegionGetsAKeyThatMeansSomethingElseHoweverOftenItsIndexIsUsed() throws RpmaException {
        RegionTable table = new RegionTable();
        try {
            int first = table.enter(1, 4096, 64, RegionTable.FOREIGN, 0, 1);
            for (int i = 0; i < 1 << 16; i++) {
                int second = table.enter(1, 4096, 64, RegionTable.FOREIGN, 0, 1);
                assertNotEquals(RegionTable.BAD_KEY, second);
                table.invalidate(second);
                table.remove(second);
            }
            table.invalidate(first);
            table.remove(first);
            for (int i = 0; i < 1 << 16; i++) {
                int key = table.enter(1, 4096, 64, RegionTable.FOREIGN, 0, 1);
                assertNotEquals(RegionTable.NO_REGION, key);
                table.invalidate(key);
                table.remove(key);
            }
        } finally {
            table.memory().release();
        }
    }
}
