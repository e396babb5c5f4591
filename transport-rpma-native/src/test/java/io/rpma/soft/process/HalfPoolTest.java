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

package io.rpma.soft.process;

import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.shared.Half;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterProperty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the slots for connections against a list of those that either end uses. */
class HalfPoolTest {
    private static final int[] SIZES = {1024, 4096, 40_960};
    private static final int ENDLESS = 100_000;

    private enum Step { TAKE, ATTACH, RETAIN, RELEASE, DETACH }

    private record Call(Step step, int which) {
    }

    /** One use of a slot, with the number of users at this end, and whether the other end is attached. */
    private static final class Use {
        private final HalfMemory half;
        private final long generation;
        private int users = 1;
        private boolean attached;

        Use(HalfMemory half) {
            this.half = half;
            generation = half.use();
        }

        long end() {
            return half.address() + half.size();
        }
    }

    private final RemoteProcesses process = RemoteProcessTest.newProcess(1);

    @AfterProperty
    void close() {
        process.regions().memory().release();
    }

    @Provide
    static Arbitrary<List<Call>> calls() {
        return Combinators.combine(Arbitraries.of(Step.TAKE, Step.TAKE, Step.ATTACH, Step.RETAIN, Step.RELEASE, Step.RELEASE,
            Step.DETACH), Arbitraries.integers().between(0, 1000)).as(Call::new).withoutEdgeCases().list().ofMaxSize(100);
    }

    @Property(tries = 100)
    void noSlotIsTakenBeforeBothEndsHaveReleasedIt(@ForAll("calls") List<Call> calls) throws RpmaException {
        HalfPool pool = new HalfPool(process.self());
        List<Use> uses = new ArrayList<>();
        List<Use> ended = new ArrayList<>();
        try {
            for (Call call : calls) {
                if (call.step == Step.TAKE) {
                    Use use = new Use(pool.take(SIZES[call.which % SIZES.length]));
                    assertFresh(pool, use, uses);
                    uses.add(use);
                } else if (!uses.isEmpty()) {
                    Use use = uses.get(call.which % uses.size());
                    act(use, call.step);
                    if (use.users == 0 && !use.attached) {
                        uses.remove(use);
                        ended.add(use);
                    }
                }
                // A description of an earlier use that arrives late attaches to nothing.
                ended.forEach(use -> assertFalse(HalfMemory.attach(use.half.address(), use.generation)));
            }
        } finally {
            pool.close();
        }
    }

    /** The other end attaches to one connection after another, and never releases any of them. */
    @Example
    void anEndThatReleasesNothingDoesNotUseUpTheMemory() throws RpmaException {
        HalfPool pool = new HalfPool(process.self());
        List<HalfMemory> held = new ArrayList<>();
        try {
            RpmaException refused = null;
            while (refused == null && held.size() < ENDLESS) {
                try {
                    HalfMemory half = pool.take(SIZES[0]);
                    assertTrue(HalfMemory.attach(half.address(), half.use()));
                    held.add(half);
                    half.release();
                } catch (RpmaException e) {
                    refused = e;
                }
            }
            // The last file has room for some more.
            assertEquals(HalfPool.MOST_HELD, held.size(), HalfPool.MOST_HELD / 16.0);
            assertEquals(Posix.EAGAIN, refused.errno());
            assertTrue(refused.getMessage().contains("no further connection to it is possible"), refused.getMessage());
            // A slot that the other end releases is found wherever it is in the list.
            HalfMemory half = held.remove(held.size() / 2);
            HalfMemory.detach(half.address(), half.use());
            assertSame(half, pool.take(SIZES[0]));
            assertTrue(HalfMemory.attach(half.address(), half.use()));
            half.release();
            assertThrows(RpmaException.class, () -> pool.take(SIZES[0]));
            // A slot of another size needs a new file, for which the slots that are held leave room again.
            assertThrows(RpmaException.class, () -> pool.take(SIZES[1]));
            held.forEach(each -> HalfMemory.detach(each.address(), each.use()));
            assertEquals(SIZES[1], pool.take(SIZES[1]).size());
        } finally {
            pool.close();
        }
    }

    private static void assertFresh(HalfPool pool, Use use, List<Use> others) {
        HalfMemory half = use.half;
        for (Use other : others) {
            assertTrue(half.address() >= other.end() || use.end() <= other.half.address(), "a slot in use was taken again");
        }
        assertEquals(half.address(), pool.find(half.slab(), half.offset(), half.size()));
        assertEquals(half.use(), Memory.getLongAcquire(half.address() + Half.USE));
        for (long at = half.address(); at < use.end(); at += Long.BYTES) {
            assertEquals(at == half.address() + Half.USE ? half.use() : 0, Memory.getLong(at), "zeros");
        }
        // The test fills the slot, so that the next use of it must clear it.
        for (long at = half.address(); at < use.end(); at += Long.BYTES) {
            if (at != half.address() + Half.USE) {
                Memory.putLong(at, -1);
            }
        }
    }

    private static void act(Use use, Step step) {
        switch (step) {
            case ATTACH -> {
                boolean possible = use.users > 0 && !use.attached
                    && Memory.getLongAcquire(use.half.address() + Half.USE) == use.generation;
                assertEquals(possible, HalfMemory.attach(use.half.address(), use.generation));
                use.attached |= possible;
            }
            case RETAIN -> {
                assertEquals(use.users > 0, use.half.tryRetain());
                use.users += use.users > 0 ? 1 : 0;
            }
            case RELEASE -> {
                if (use.users > 0) {
                    use.users--;
                    use.half.release();
                }
            }
            default -> {
                if (use.attached) {
                    HalfMemory.detach(use.half.address(), use.generation);
                    use.attached = false;
                }
            }
        }
    }
}
