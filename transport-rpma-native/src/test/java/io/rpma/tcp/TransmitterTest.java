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

import io.rpma.CompletionStatus;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests what the sending half of a connection waits for. */
@Timeout(60)
class TransmitterTest {
    /** More frames than the socket takes. */
    private static final int SLOTS = 1 << 13;

    /** A queue pair that does not fail. */
    private static final class Pair implements ErrorState {
        @Override
        public boolean isError() {
            return false;
        }

        @Override
        public void fail(long culprit, CompletionStatus status) {
            throw new AssertionError(status);
        }

        @Override
        public void refuse(long request, CompletionStatus answer) {
            throw new AssertionError(answer);
        }

        @Override
        public void violated(String what) {
            throw new AssertionError(what);
        }

        @Override
        public void breakOff() {
            throw new AssertionError();
        }
    }

    /** Otherwise the adapter's thread would be woken again and again as soon as the socket has room. */
    @Test
    void aStalledHalfDoesNotWaitForRoom() throws Exception {
        int[] ends = new int[2];
        // This kind of socket takes a frame completely or not at all.
        assertEquals(0, Sockets.socketPair(ends));
        try (Arena arena = Arena.ofConfined()) {
            SendQueue sends = new SendQueue(SLOTS);
            Transmitter transmitter = new Transmitter(new Pair(), sends, ends[0], arena.allocate(Wire.HEADER).address());
            while (!transmitter.isBlocked()) {
                sends.post(Wire.SEND, false, false, false, true, null, 0, 0, 0, 0, 0, 0, 0);
                assertFalse(transmitter.transmit(false));
            }
            assertEquals(sends.posted() - 1, transmitter.sentCompletely());
            transmitter.stall(1);
            assertFalse(transmitter.transmit(false));
            assertFalse(transmitter.isBlocked());
        } finally {
            Posix.close(ends[0]);
            Posix.close(ends[1]);
        }
    }
}
