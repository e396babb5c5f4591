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
import io.rpma.posix.CFunction;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.AnotherUser;
import io.rpma.soft.host.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests a doorbell between two processes: nothing that the other process does with its descriptor makes a call of this process
 * block.
 */
@Timeout(120)
class EventPipeTest {
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final MethodHandle FCNTL = Posix.downcall("fcntl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    // The limit is twice the capacity of a pipe, which is 16 pages.
    private static final long MOST_EVENTS = 32 * Posix.PAGE_SIZE;

    private EventPipe own;
    /** The descriptor that is sent to the other process. */
    private int sent;
    private EventPipe ofPeer;

    @BeforeEach
    void open() throws Exception {
        own = EventPipe.create();
        sent = own.openForPeer();
        // A second descriptor of the same open file, as a peer has after it has sent or received it.
        ofPeer = EventPipe.open(sent);
    }

    @AfterEach
    void close() {
        own.release();
        ofPeer.release();
        Posix.close(sent);
    }

    private static int fcntl(int fd, int command, int argument) {
        try {
            return (int) FCNTL.invokeExact(fd, command, argument);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    private static int duplicate(int fd) {
        int result = fcntl(fd, 0, 0);
        assertNotEquals(-1, result);
        return result;
    }

    private static void clearNonBlocking(int fd) {
        int flags = fcntl(fd, F_GETFL, 0);
        assertEquals(0, fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
    }

    /** Signals until the pipe is full, and a few more times. */
    private static void fill(EventPipe event) {
        for (long i = 0; i < MOST_EVENTS; i++) {
            event.signal();
        }
    }

    @Test
    void eventsAreCounted() {
        assertFalse(own.isReadable());
        assertEquals(0, own.read());
        ofPeer.signal();
        own.signal();
        assertTrue(own.isReadable());
        assertEquals(2, own.read());
        assertFalse(own.isReadable());
    }

    @Test
    void aPeerThatLetsItsDescriptorBlockDoesNotBlockTheOwner() {
        clearNonBlocking(sent);
        assertEquals(0, own.read());
        fill(own);
        assertTrue(own.isReadable());
        assertTrue(own.read() > 0);
        assertEquals(0, own.read());
    }

    @Test
    void anOwnerThatLetsItsDescriptorBlockDoesNotBlockThePeer() {
        clearNonBlocking(own.fd());
        clearNonBlocking(sent);
        fill(ofPeer);
        assertTrue(own.isReadable());
    }

    /** Only the owner can consume events. */
    @Test
    void whatAPeerHasCannotBeRead() {
        own.signal();
        assertEquals(-Libc.EBADF, Libc.read(sent, Scratch.get().messageAddress(), 8));
        assertEquals(1, own.read());
    }

    /** The test is skipped for root, which can open the pipe regardless of its mode. */
    @Test
    void aPeerThatTakesTheModeAwayHurtsNoOtherPeer() {
        AnotherUser.assumeRoot();
        assertEquals(0, AnotherUser.call(() -> {
            try {
                EventPipe pipe = EventPipe.create();
                int first = pipe.openForPeer();
                assertEquals(0, Libc.changeMode(first, 0));
                int second = pipe.openForPeer();
                assertEquals(0, Libc.changeMode(first, 0));
                EventPipe ofSecond = EventPipe.open(second);
                ofSecond.signal();
                assertTrue(pipe.isReadable());
                ofSecond.release();
                pipe.release();
                Posix.close(first);
                Posix.close(second);
                return 0;
            } catch (RpmaException e) {
                throw new AssertionError(e);
            }
        }));
    }

    @Test
    void otherKindsAreRefused() throws Exception {
        int[] ends = new int[2];
        assertEquals(0, Sockets.socketPair(ends));
        for (int end : ends) {
            assertNull(EventPipe.open(end));
            Posix.close(end);
        }
    }

    /** A named pipe lies in a file system. That of a user process (FUSE) decides when a call for a file in it returns. */
    @Test
    void namedPipesAreRefused(@TempDir Path folder) throws Exception {
        Path pipe = folder.resolve("pipe");
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(0, CFunction.of("mkfifo", 2).call(arena.allocateFrom(pipe.toString()).address(), 0600));
            int fd = CFunction.of("open", 3).call(arena.allocateFrom(pipe.toString()).address(), Libc.O_RDWR | O_NONBLOCK, 0);
            assertTrue(fd >= 0);
            try {
                assertNull(EventPipe.open(fd));
            } finally {
                Posix.close(fd);
            }
        }
    }
}
