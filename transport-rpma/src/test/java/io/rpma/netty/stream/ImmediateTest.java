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

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tests that the 32 bits of a message keep all values that are encoded in them. */
class ImmediateTest {
    @Property(tries = 500)
    void whatIsPutInComesOut(@ForAll @IntRange(max = 15) int kind, @ForAll @IntRange(max = Immediate.MAX_CREDITS) int credits,
            @ForAll @IntRange(max = 0xffff) int argument) {
        int bits = Immediate.of(kind, credits, argument);
        assertEquals(kind, Immediate.kind(bits));
        assertEquals(credits, Immediate.credits(bits));
        assertEquals(argument, Immediate.argument(bits));
        assertEquals(Immediate.of(kind, credits), Immediate.of(kind, credits, 0));
    }

    @Property(tries = 500)
    void anyBitsOfAPeerAreTheirThreePartsTogether(@ForAll int bits) {
        assertEquals(bits, Immediate.of(Immediate.kind(bits), Immediate.credits(bits), Immediate.argument(bits)));
    }
}
