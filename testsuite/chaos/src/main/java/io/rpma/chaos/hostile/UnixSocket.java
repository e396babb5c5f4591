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

import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * Direct system calls for Unix sockets and descriptors, without the rules of the software provider. Only {@link #awaitInput}
 * blocks.
 */
final class UnixSocket {
    static final int SEQPACKET = 5;
    static final int DGRAM = 2;
    /** The maximum number of bytes that {@link #send} accepts. */
    static final int MAX_BYTES = 8192;

    private static final int AF_UNIX = 1;
    private static final int NONBLOCK_CLOEXEC = 0x80800;
    private static final int SOL_SOCKET = 1;
    private static final int SO_TYPE = 3;
    private static final int SO_DOMAIN = 39;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_DONTWAIT_NOSIGNAL = 0x4040;
    private static final int F_ADD_SEALS = 1033;
    private static final MethodHandle SOCKET =
        Posix.downcallErrno("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle SOCKETPAIR =
        Posix.downcallErrno("socketpair", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle CONNECT =
        Posix.downcallErrno("connect", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle BIND =
        Posix.downcallErrno("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle LISTEN = Posix.downcallErrno("listen", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle SENDMSG =
        Posix.downcallErrno("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKOPT =
        Posix.downcallErrno("getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle MEMFD_CREATE =
        Posix.downcallErrno("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE =
        Posix.downcallErrno("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FCNTL =
        Posix.downcallErrno("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle POLL =
        Posix.downcallErrno("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle EVENTFD =
        Posix.downcallErrno("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    // Used by a single thread only.
    private static final MemorySegment BYTES = Arena.global().allocate(MAX_BYTES, 8);
    private static final MemorySegment VECTOR = Arena.global().allocate(16, 8);
    private static final MemorySegment CONTROL = Arena.global().allocate(1100, 8);
    private static final MemorySegment HEADER = Arena.global().allocate(56, 8);
    private static final MemorySegment NAME = Arena.global().allocate(128, 8);

    private UnixSocket() {
    }

    private interface Call {
        long run(MemorySegment capture) throws Throwable;
    }

    private static int call(Call call) {
        MemorySegment capture = Posix.capture();
        try {
            long result = call.run(capture);
            return result < 0 ? -Posix.errno(capture) : (int) result;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Creates a socket. Returns its descriptor, or {@code -errno}. */
    static int create(int type) {
        return call(capture -> (int) SOCKET.invokeExact(capture, AF_UNIX, type | NONBLOCK_CLOEXEC, 0));
    }

    /** Creates a pair of connected sockets. */
    static int[] pair() {
        int result = call(capture -> (int) SOCKETPAIR.invokeExact(capture, AF_UNIX, SEQPACKET | NONBLOCK_CLOEXEC, 0, BYTES));
        if (result < 0) {
            throw new IllegalStateException("socketpair: " + Posix.strerror(-result));
        }
        return new int[] {BYTES.get(JAVA_INT, 0), BYTES.get(JAVA_INT, 4)};
    }

    private static int name(String abstractName) {
        byte[] bytes = abstractName.getBytes(StandardCharsets.US_ASCII);
        NAME.fill((byte) 0);
        NAME.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(bytes, 0, NAME, JAVA_BYTE, 3, bytes.length);
        return 3 + bytes.length;
    }

    /** Connects to a name. Returns 0 or {@code -errno}. */
    static int connect(int fd, String abstractName) {
        int length = name(abstractName);
        return call(capture -> (int) CONNECT.invokeExact(capture, fd, NAME, length));
    }

    /** Binds to a name. Returns 0 or {@code -errno}. */
    static int bind(int fd, String abstractName) {
        int length = name(abstractName);
        return call(capture -> (int) BIND.invokeExact(capture, fd, NAME, length));
    }

    /** Starts to listen. Returns 0 or {@code -errno}. */
    static int listen(int fd) {
        return call(capture -> (int) LISTEN.invokeExact(capture, fd, 1));
    }

    /** Sends a message with descriptors. Returns 0 or {@code -errno}. */
    static int send(int fd, byte[] message, int length, int... descriptors) {
        MemorySegment.copy(message, 0, BYTES, JAVA_BYTE, 0, length);
        VECTOR.set(JAVA_LONG, 0, BYTES.address());
        VECTOR.set(JAVA_LONG, 8, length);
        HEADER.fill((byte) 0);
        HEADER.set(JAVA_LONG, 16, VECTOR.address());
        HEADER.set(JAVA_LONG, 24, 1);
        if (descriptors.length > 0) {
            CONTROL.set(JAVA_LONG, 0, 16 + 4L * descriptors.length);
            CONTROL.set(JAVA_INT, 8, SOL_SOCKET);
            CONTROL.set(JAVA_INT, 12, SCM_RIGHTS);
            for (int i = 0; i < descriptors.length; i++) {
                CONTROL.set(JAVA_INT, 16 + 4L * i, descriptors[i]);
            }
            HEADER.set(JAVA_LONG, 32, CONTROL.address());
            HEADER.set(JAVA_LONG, 40, (16 + 4L * descriptors.length + 7) / 8 * 8);
        }
        int result = call(capture -> (long) SENDMSG.invokeExact(capture, fd, HEADER, MSG_DONTWAIT_NOSIGNAL));
        return Math.min(result, 0);
    }

    /** Waits until data or the end of the connection can be received. */
    static void awaitInput(int fd, int millis) {
        NAME.set(JAVA_INT, 0, fd);
        NAME.set(JAVA_INT, 4, 1);
        call(capture -> (int) POLL.invokeExact(capture, NAME, 1L, millis));
    }

    private static int option(int fd, int name) {
        MemorySegment length = NAME.asSlice(64, 4);
        length.set(JAVA_INT, 0, 4);
        int result = call(capture -> (int) GETSOCKOPT.invokeExact(capture, fd, SOL_SOCKET, name, NAME, length));
        return result < 0 ? result : NAME.get(JAVA_INT, 0);
    }

    /** Returns whether a descriptor is a Unix socket that preserves message boundaries. */
    static boolean isUnixSeqpacket(int fd) {
        return option(fd, SO_DOMAIN) == AF_UNIX && option(fd, SO_TYPE) == SEQPACKET;
    }

    /** Creates a memory file with the given seals. */
    static int memoryFile(long size, int seals) {
        NAME.fill((byte) 0);
        NAME.setString(0, "chaos");
        int fd = call(capture -> (int) MEMFD_CREATE.invokeExact(capture, NAME, 3));
        if (fd >= 0) {
            call(capture -> (int) FTRUNCATE.invokeExact(capture, fd, size));
            call(capture -> (int) FCNTL.invokeExact(capture, fd, F_ADD_SEALS, seals));
        }
        return fd;
    }

    /** Creates a blocking eventfd. */
    static int eventFd() {
        return call(capture -> (int) EVENTFD.invokeExact(capture, 0, 0));
    }
}
