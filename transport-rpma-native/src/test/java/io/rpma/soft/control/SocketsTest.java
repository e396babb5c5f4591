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
package io.rpma.soft.control;

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.Libc;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests messages with descriptors that a peer sends in violation of the rules. This process must keep none of the descriptors.
 */
class SocketsTest {
    private static final int SOL_SOCKET = 1;
    private static final int SO_PASSCRED = 16;
    private static final int SO_PASSPIDFD = 76;
    private static final MethodHandle SETSOCKOPT = Posix.downcallErrno("setsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));

    private final int[] socket = new int[2];
    private final int[] pipe = new int[2];
    private final ControlMessage.Incoming incoming = new ControlMessage.Incoming();

    @BeforeEach
    void open() {
        assertEquals(0, Sockets.socketPair(socket));
        assertEquals(0, Libc.pipe(pipe));
    }

    @AfterEach
    void close() {
        for (int fd : new int[] {socket[0], socket[1], pipe[0]}) {
            if (fd >= 0) {
                Posix.close(fd);
            }
        }
    }

    /** Sends a message with the given number of copies of the pipe's write end, and closes the write end in this process. */
    private void send(int length, int copies) {
        int[] descriptors = new int[copies];
        Arrays.fill(descriptors, pipe[1]);
        assertEquals(0, Sockets.sendMessage(socket[0], Scratch.get(), length, descriptors));
        Posix.close(pipe[1]);
    }

    /** The read end of a pipe shows whether any process still has its write end, even in a message that has not been received. */
    private void assertNobodyHasThePipe() {
        assertTrue(Sockets.hasHungUp(pipe[0]), "descriptors of the message are still open");
    }

    @Test
    void whatComesWithAMessageOfNoBytesIsClosed() {
        send(0, 3);
        assertFalse(Sockets.hasHungUp(pipe[0]));
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EINVAL, incoming.result, "the connection has not ended");
        assertNobodyHasThePipe();
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EAGAIN, incoming.result, "the message was removed");
    }

    @Test
    void whatComesWithAMessageThatIsTooShortIsClosed() {
        send(1, 2);
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EINVAL, incoming.result);
        assertNobodyHasThePipe();
    }

    @Test
    void moreDescriptorsThanAMessageMayHaveAreClosed() {
        send(1, Scratch.MAX_DESCRIPTORS + 1);
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EINVAL, incoming.result);
        assertNobodyHasThePipe();
    }

    /**
     * Sets a socket option as the other process can, which has the same open file because it has created the socket pair and sent
     * one of the ends.
     */
    private boolean setOption(int option) {
        long value = Scratch.get().vectors();
        Memory.putInt(value, 1);
        try {
            return (int) SETSOCKOPT.invokeExact(Posix.capture(), socket[1], SOL_SOCKET, option, value, 4) == 0;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    @Test
    void whatComesBehindTheSendersCredentialsIsClosed() {
        assertTrue(setOption(SO_PASSCRED));
        send(ControlMessage.HEAD, 3);
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EINVAL, incoming.result);
        assertNobodyHasThePipe();
    }

    @Test
    void theSendersProcessDescriptorIsClosed() throws Exception {
        assumeTrue(setOption(SO_PASSPIDFD), "Linux 6.5 is needed");
        long before = processDescriptors();
        send(ControlMessage.HEAD, 3);
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(-Posix.EINVAL, incoming.result);
        assertNobodyHasThePipe();
        assertEquals(before, processDescriptors());
    }

    private static long processDescriptors() throws IOException {
        long count = 0;
        for (String fd : new File("/proc/self/fd").list()) {
            try {
                String target = Files.readSymbolicLink(Path.of("/proc/self/fd", fd)).toString();
                count += target.contains("pidfd") || target.startsWith("pid:") ? 1 : 0;
            } catch (NoSuchFileException e) {
                // This is the descriptor that was used to list the directory.
                continue;
            }
        }
        return count;
    }

    /** A peer that closes with unread data leaves an error in this end, which the next call returns instead of the data. */
    @Test
    void aMessageIsTakenOnceAlthoughThePeerHasClosedWithUnreadData() {
        int[] none = new int[0];
        int[] received = new int[Scratch.MAX_DESCRIPTORS + 1];
        Posix.close(pipe[1]);
        assertEquals(0, Sockets.sendMessage(socket[0], Scratch.get(), ControlMessage.HEAD, none));
        assertEquals(0, Sockets.sendMessage(socket[1], Scratch.get(), ControlMessage.HEAD, none));
        assertEquals(ControlMessage.HEAD, Sockets.peekMessage(socket[1], Scratch.get(), received));
        Posix.close(socket[0]);
        socket[0] = -1;
        Sockets.takeMessage(socket[1]);
        assertEquals(0, Sockets.peekMessage(socket[1], Scratch.get(), received), "the message is still there");
    }

    @Test
    void noByteAndNoDescriptorIsTheEnd() {
        Posix.close(pipe[1]);
        Sockets.shutdownWrite(socket[0]);
        assertNull(ControlMessage.receive(socket[1], incoming));
        assertEquals(0, incoming.result);
    }
}
