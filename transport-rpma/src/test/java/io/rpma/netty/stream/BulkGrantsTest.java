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

package io.rpma.netty.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.rpma.RemoteMemoryRegion;
import io.rpma.netty.GrantingProvider;
import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Tests the areas that a peer grants against a queue of their numbers, for any valid and invalid grants. */
class BulkGrantsTest {
    private static final int LARGEST = 3;

    private enum Step { GRANT, TAKE, CLEAR, ASK_IF_IDLE }

    /** A step of a test. The area, its size and the kind of its descriptor are used for grants only. */
    private record Call(Step step, int area, int size, byte mark) {
    }

    private final Deque<Integer> granted = new ArrayDeque<>();
    private final Map<Integer, Call> descriptors = new HashMap<>();
    private boolean used;

    @Provide
    static Arbitrary<List<Call>> goodCalls() {
        return calls(BulkAreas.AREAS - 1, 1, LARGEST);
    }

    @Provide
    static Arbitrary<List<Call>> anyCalls() {
        return calls(BulkAreas.AREAS, 0, LARGEST + 1);
    }

    private static Arbitrary<List<Call>> calls(int lastArea, int smallest, int largest) {
        return Combinators.combine(
                Arbitraries.frequency(Tuple.of(8, Step.GRANT), Tuple.of(6, Step.TAKE),
                    Tuple.of(1, Step.CLEAR), Tuple.of(4, Step.ASK_IF_IDLE)),
                Arbitraries.integers().between(0, lastArea), Arbitraries.integers().between(smallest, largest),
                Arbitraries.bytes().between((byte) 0, (byte) 1))
            .as(Call::new).withoutEdgeCases().list().ofMaxSize(100);
    }

    /** A peer that keeps to the protocol grants an area again only after it was used. */
    @Property(tries = 200)
    void areasAreFilledInTheOrderInWhichTheyWereGranted(@ForAll("goodCalls") List<Call> calls) {
        run(calls, true);
    }

    @Property(tries = 200)
    void whatAPeerMustNotGrantEndsItAndEveryRegionIsClosedOnce(@ForAll("anyCalls") List<Call> calls) {
        run(calls, false);
    }

    private void run(List<Call> calls, boolean skipBad) {
        granted.clear();
        descriptors.clear();
        used = false;
        GrantingProvider fabric = new GrantingProvider();
        BulkGrants grants = new BulkGrants(fabric.provider(), LARGEST);
        for (Call call : calls) {
            if (call.step == Step.GRANT) {
                boolean bad = call.area >= BulkAreas.AREAS || granted.contains(call.area)
                    || call.size < 1 || call.size > LARGEST;
                if (bad && skipBad) {
                    continue;
                }
                assertEquals(bad, violates(fabric, grants, call), call::toString);
                if (bad) {
                    break;
                }
            } else {
                act(grants, call.step);
            }
            assertEquals(granted.size(), grants.count());
            assertEquals(granted.isEmpty() ? 0 : descriptors.get(granted.peek()).size, grants.next());
            assertEquals(descriptors.size(), fabric.regions.stream().filter(region -> !region.isClosed()).count());
        }
        grants.close();
        assertEquals(0, grants.count());
        assertTrue(fabric.regions.stream().allMatch(GrantingProvider.Region::isClosed));
    }

    private boolean violates(GrantingProvider fabric, BulkGrants grants, Call call) {
        int before = fabric.regions.size();
        // The message neither begins at the start of the buffer nor ends at its end.
        ByteBuf message = Unpooled.buffer().writeByte(9);
        message.writeByte(call.area).writeInt(call.size).writeByte(call.mark).writeByte(9);
        try {
            grants.add(message, 1, message.readableBytes() - 2);
        } catch (ProtocolException e) {
            assertNotNull(e.getMessage());
            return true;
        }
        Call earlier = descriptors.put(call.area, call);
        boolean known = earlier != null && earlier.size == call.size && earlier.mark == call.mark;
        assertEquals(known ? before : before + 1, fabric.regions.size(), "a known region must not be opened again");
        granted.add(call.area);
        return false;
    }

    private void act(BulkGrants grants, Step step) {
        switch (step) {
            case TAKE -> {
                if (!granted.isEmpty()) {
                    RemoteMemoryRegion region = grants.take();
                    assertEquals(descriptors.get(granted.remove()).size, region.size());
                    assertFalse(((GrantingProvider.Region) region).isClosed());
                    used = true;
                }
            }
            case CLEAR -> {
                grants.clear();
                granted.clear();
            }
            default -> {
                assertEquals(!granted.isEmpty() && !used, grants.isIdle());
                used = false;
            }
        }
    }
}
