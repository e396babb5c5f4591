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
package io.rpma.chaos.hostile;

import io.rpma.soft.control.ControlMessage;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests that the messages are close to those of the protocol, because others are refused before most of the code sees them. */
class GarbageTest {
    private static final int MESSAGES = 20_000;
    private static final int TYPE_AT = 6;
    private static final int COUNT_AT = 8;
    private static final int KIND_AT = 12;

    private final Garbage garbage = new Garbage(new SplittableRandom(1), ControlMessage.VERSION);
    private final ByteBuffer bytes = ByteBuffer.wrap(garbage.bytes()).order(ByteOrder.nativeOrder());

    /** Returns the values of the protocol's constants of a type, without the version. */
    private static Set<Integer> constants(Class<?> type) throws IllegalAccessException {
        Set<Integer> values = new TreeSet<>();
        for (Field field : ControlMessage.class.getFields()) {
            if (field.getType() == type && !field.getName().equals("VERSION")) {
                values.add(((Number) field.get(null)).intValue());
            }
        }
        assertTrue(values.size() > 5, values::toString);
        return values;
    }

    @Test
    void everyTypeAndEveryKindAndOthersAreSent() throws Exception {
        Set<Integer> types = new HashSet<>();
        Set<Integer> kinds = new HashSet<>();
        for (int i = 0; i < MESSAGES; i++) {
            int length = garbage.next(1);
            if (length >= KIND_AT + Integer.BYTES && bytes.getShort(4) == ControlMessage.VERSION && bytes.getInt(COUNT_AT) == 1) {
                types.add((int) bytes.getShort(TYPE_AT));
                kinds.add(bytes.getInt(KIND_AT));
            }
        }
        assertMissing(Set.of(), constants(short.class), types);
        assertMissing(Set.of(), constants(int.class), kinds);
        assertTrue(types.contains(0) && kinds.contains(0), "no type or kind is unknown to the server");
    }

    private static void assertMissing(Set<Integer> expected, Set<Integer> all, Set<Integer> found) {
        Set<Integer> missing = new TreeSet<>(all);
        missing.removeAll(found);
        assertEquals(expected, missing);
    }

    @Test
    void theMessagesThatTheServerAcceptsHaveTheTypesOfTheProtocol() {
        garbage.gone();
        assertEquals(ControlMessage.GONE, bytes.getShort(TYPE_AT));
        garbage.look();
        assertEquals(ControlMessage.LOOK, bytes.getShort(TYPE_AT));
    }
}
