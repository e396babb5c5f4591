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
package io.rpma.soft;

import io.rpma.RpmaException;
import io.rpma.soft.shared.RegionTable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M42: a peer reads a region from the table while its owner deregisters it and registers another one in the same entry. The
 * table is that of soft. The modes and the acquire fence can only show on aarch64. On x86-64, the case fails if the stamp is not
 * loaded a second time.
 *
 * <p>On x86-64, without the second load of the stamp in {@code RegionTable.read}, 1,396 of 18,104,785 results were forbidden;
 * with it none.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "The key is no longer valid.")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The region of the key.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Fields of the other region.")
@State
public class RegionTableStress {
    private static final RegionTable TABLE = table();
    private static final Turns<int[]> KEYS = new Turns<>(() -> new int[] {enter(1)});

    private final int[] current = KEYS.next();
    private final int key;

    /** Leaves the first region in the entry. */
    public RegionTableStress() {
        replace(1);
        key = current[0];
    }

    private static RegionTable table() {
        try {
            return new RegionTable();
        } catch (RpmaException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static int enter(int value) {
        try {
            return TABLE.enter(1, value, value, RegionTable.FOREIGN, 0, 1);
        } catch (RpmaException e) {
            throw new AssertionError(e);
        }
    }

    private void replace(int value) {
        TABLE.invalidate(current[0]);
        TABLE.remove(current[0]);
        current[0] = enter(value);
    }

    /** The owner. */
    @Actor
    public void replace() {
        replace(2);
    }

    /** The peer. */
    @Actor
    public void read(II_Result r) {
        RegionTable.Entry entry = RegionTable.read(TABLE.memory().address(), key);
        if (entry != null) {
            r.r1 = (int) entry.address();
            r.r2 = (int) entry.length();
        }
    }
}
