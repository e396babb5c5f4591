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
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what the sending half of a connection waits for. */
@Timeout(60)
class TransmitterTest {
    /** More frames than the socket takes. */
    private static final int SLOTS = 1 << 13;
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM_NONBLOCK = 1 | 0x800;
    private static final int LARGE = 4 << 20;
    /** A part of a full send buffer that is less than three quarters of it. */
    private static final int GAP = 64 << 10;

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

    /** Each small gap in the send buffer would otherwise cost a system call that sends little. */
    @Test
    void theRestOfALargeFrameWaitsUntilTheKernelReportsRoom() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = streamPair(arena);
            int own = ends.getAtIndex(ValueLayout.JAVA_INT, 0);
            int other = ends.getAtIndex(ValueLayout.JAVA_INT, 1);
            try {
                long target = arena.allocate(LARGE).address();
                SendQueue sends = new SendQueue(1);
                Transmitter transmitter = new Transmitter(new Pair(), sends, own, arena.allocate(Wire.HEADER).address());
                sends.post(Wire.SEND, false, false, false, true, null, arena.allocate(LARGE).address(), LARGE, 0, 0, 0, 0, 0);
                long full = fill(transmitter, other, target);
                assertFalse(transmitter.transmit(false));
                assertEquals(GAP, Sockets.receive(other, target, GAP));
                assertFalse(transmitter.transmit(false));
                assertTrue(transmitter.isBlocked());
                long left = readAll(other, target);
                assertTrue(GAP + left < full + GAP / 2, "the gap was filled: " + left + " of " + full + " bytes");
                long all = full + GAP + left;
                while (all < Wire.HEADER + LARGE) {
                    all += fill(transmitter, other, target);
                }
                assertEquals(1, transmitter.sentCompletely());
                assertFalse(transmitter.isBlocked());
            } finally {
                Posix.close(own);
                Posix.close(other);
            }
        }
    }

    /** Fills the send buffer, reads everything at the other end, and returns how many bytes there were. */
    private static long fill(Transmitter transmitter, int other, long target) {
        assertFalse(transmitter.transmit(false));
        long bytes = readAll(other, target);
        assertTrue(bytes > 0, "nothing was sent");
        return bytes;
    }

    private static long readAll(int socket, long target) {
        long all = 0;
        long count = Sockets.receive(socket, target, LARGE);
        while (count > 0) {
            all += count;
            count = Sockets.receive(socket, target, LARGE);
        }
        assertEquals(-Posix.EAGAIN, count);
        return all;
    }

    /** Creates a pair of sockets that take a frame in parts. The kernel reports room when three quarters of a buffer are free. */
    private static MemorySegment streamPair(Arena arena) throws Throwable {
        MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
        MethodHandle socketpair = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("socketpair"), FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        assertEquals(0, (int) socketpair.invokeExact(AF_UNIX, SOCK_STREAM_NONBLOCK, 0, ends));
        return ends;
    }
}
