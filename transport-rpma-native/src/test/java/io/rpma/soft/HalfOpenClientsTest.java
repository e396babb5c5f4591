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

import io.rpma.software.HalfOpenClients;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Tests which of the clients that a listener waits for is removed first. */
class HalfOpenClientsTest {
    @Test
    void anOriginLosesItsOwnOldestOne() {
        HalfOpenClients clients = new HalfOpenClients(10, 2, 100);
        clients.add(1, 7, 0);
        HalfOpenClients.Client oldest = clients.add(2, 8, 0);
        clients.add(3, 8, 0);
        assertSame(oldest, clients.surplus(8));
        assertNull(clients.surplus(7));
        assertNull(clients.surplus(9));
        clients.remove(oldest);
        assertNull(clients.surplus(8));
    }

    @Test
    void theProcessWithTheMostClientsMakesRoomForTheOthers() {
        HalfOpenClients clients = new HalfOpenClients(4, 3, 100);
        clients.add(1, 7, 0);
        HalfOpenClients.Client oldestOfMost = clients.add(2, 8, 0);
        clients.add(3, 8, 0);
        clients.add(4, 9, 0);
        assertSame(oldestOfMost, clients.surplus(10));
        assertSame(oldestOfMost, clients.surplus(7));
    }

    @Test
    void theTimeOfEachIsOver() {
        HalfOpenClients clients = new HalfOpenClients(4, 4, 100);
        assertNull(clients.first());
        HalfOpenClients.Client first = clients.add(1, 7, Long.MAX_VALUE - 50);
        HalfOpenClients.Client second = clients.add(2, 7, Long.MAX_VALUE - 10);
        assertSame(first, clients.first());
        assertNull(clients.expired(Long.MIN_VALUE + 48));
        assertSame(first, clients.expired(Long.MIN_VALUE + 49));
        clients.remove(first);
        assertNull(clients.expired(Long.MIN_VALUE + 49));
        assertSame(second, clients.expired(second.deadline()));
        clients.remove(second);
        assertEquals(0, clients.all().size());
    }
}
