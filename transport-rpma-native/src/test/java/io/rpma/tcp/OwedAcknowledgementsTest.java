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
package io.rpma.tcp;

import io.rpma.WorkCompletions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Tests the list of the members of a shared receive queue that owe their peers an acknowledgement. */
@Timeout(60)
class OwedAcknowledgementsTest {
    private static final int NO_SOCKET = -1;

    private final WorkCompletions batch = new WorkCompletions(1);
    private final OneMember first = new OneMember();
    private final OneMember second = new OneMember();
    private final OneMember third = new OneMember();
    private TcpSharedReceiveQueue queue;

    /** A member without a connection. */
    private static final class OneMember implements TcpSharedReceiveQueue.Member {
        private boolean owes = true;
        private boolean fails;
        private boolean isListed;
        private int acknowledged;

        @Override
        public void driveAsMember(boolean isPatient) {
        }

        @Override
        public boolean owesAcknowledgement() {
            return owes;
        }

        @Override
        public void acknowledge(boolean isPatient) {
            acknowledged++;
            if (fails) {
                fails = false;
                throw new IllegalStateException("the log of the application fails");
            }
        }

        @Override
        public boolean isListed() {
            return isListed;
        }

        @Override
        public void setListed(boolean isOnList) {
            isListed = isOnList;
        }

        @Override
        public void checkMessage() {
        }

        @Override
        public boolean wake() {
            return false;
        }
    }

    @BeforeEach
    void open() throws Exception {
        queue = new TcpSharedReceiveQueue(null, 1, 8);
        for (OneMember each : List.of(first, second, third)) {
            // Each poll drives the members whose sockets cannot be watched.
            queue.watch(each, queue.join(each), NO_SOCKET);
        }
        poll();
        assertAcknowledged(0, 0, 0);
    }

    @AfterEach
    void close() {
        queue.completions().close();
    }

    private void poll() throws Exception {
        assertEquals(0, queue.completions().poll(batch));
    }

    private void assertAcknowledged(int... counts) {
        assertEquals(List.of(counts[0], counts[1], counts[2]),
            List.of(first.acknowledged, second.acknowledged, third.acknowledged));
    }

    /** A member that has left the list, and owes an acknowledgement again, is on the list once. */
    @Test
    void eachIsListedOnceAlthoughOneHasThrown() throws Exception {
        first.owes = false;
        second.fails = true;
        assertThrows(IllegalStateException.class, this::poll);
        assertAcknowledged(0, 1, 0);
        first.owes = true;
        poll();
        assertAcknowledged(0, 2, 1);
        poll();
        assertAcknowledged(1, 3, 2);
    }

    /** A member that has thrown and owes nothing any more, as its connection has ended, leaves the list. */
    @Test
    void oneThatHasThrownLeavesTheList() throws Exception {
        first.fails = true;
        assertThrows(IllegalStateException.class, this::poll);
        first.owes = false;
        poll();
        assertFalse(first.isListed);
        assertAcknowledged(1, 1, 1);
        poll();
        assertAcknowledged(1, 2, 2);
    }
}
