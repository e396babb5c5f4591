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
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The system calls that a process can make on a descriptor. The kernel decides whether they are permitted. No method throws or
 * blocks.
 */
final class DescriptorCalls {
    static final int O_RDWR = 2;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_PASSCRED = 16;
    static final int SO_PEEK_OFF = 42;
    static final int SO_PASSPIDFD = 76;

    private static final int O_NONBLOCK = 0x800;
    private static final int F_SETFL = 4;
    private static final int F_SETPIPE_SZ = 1031;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_ADD_SEALS = 1033;
    private static final int SOL_SOCKET = 1;
    private static final int PUNCH_HOLE_KEEP_SIZE = 3;
    private static final long CHUNK = 4096;
    // Each chunk is a part of a pipe of 1 MiB, or a message of a socket.
    private static final int MOST_CHUNKS = 512;

    private static final MethodHandle OPEN = Posix.downcall("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
        Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCNTL = Posix.downcall("fcntl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FTRUNCATE =
        Posix.downcall("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FALLOCATE = Posix.downcall("fallocate",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FCHMOD = Posix.downcall("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle READ =
        Posix.downcall("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle WRITE =
        Posix.downcall("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle RECV = Posix.downcall("recv",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SETSOCKOPT = Posix.downcall("setsockopt",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final int MSG_DONTWAIT = 0x40;
    // Used by a single thread only.
    private static final MemorySegment BYTES = Arena.global().allocate(CHUNK, 8);

    private DescriptorCalls() {
    }

    private interface Call {
        long run() throws Throwable;
    }

    private static long call(Call call) {
        try {
            return call.run();
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** Opens a path; returns the descriptor, or a negative number. */
    static int open(String path, int flags) {
        BYTES.setString(0, path);
        return (int) call(() -> (int) OPEN.invokeExact(BYTES, flags | O_NONBLOCK));
    }

    static int duplicate(int fd) {
        return (int) call(() -> (int) FCNTL.invokeExact(fd, F_DUPFD_CLOEXEC, 0));
    }

    static void flags(int fd, int flags) {
        call(() -> (int) FCNTL.invokeExact(fd, F_SETFL, flags));
    }

    static void pipeSize(int fd, int bytes) {
        call(() -> (int) FCNTL.invokeExact(fd, F_SETPIPE_SZ, bytes));
    }

    static boolean seal(int fd, int seals) {
        return call(() -> (int) FCNTL.invokeExact(fd, F_ADD_SEALS, seals)) == 0;
    }

    static void mode(int fd, int mode) {
        call(() -> (int) FCHMOD.invokeExact(fd, mode));
    }

    static boolean truncate(int fd, long size) {
        return call(() -> (int) FTRUNCATE.invokeExact(fd, size)) == 0;
    }

    static boolean punch(int fd, long offset, long length) {
        return call(() -> (int) FALLOCATE.invokeExact(fd, PUNCH_HOLE_KEEP_SIZE, offset, length)) == 0;
    }

    /** Writes until the pipe is full. */
    static void fill(int fd) {
        for (int i = 0; i < MOST_CHUNKS && call(() -> (long) WRITE.invokeExact(fd, BYTES, CHUNK)) > 0; i++) {
            // The loop only makes the call.
        }
    }

    /** Reads all available data. */
    static void drain(int fd) {
        for (int i = 0; i < MOST_CHUNKS && call(() -> (long) READ.invokeExact(fd, BYTES, CHUNK)) > 0; i++) {
            // The loop only makes the call.
        }
    }

    /** Receives all available messages of a socket. */
    static void receive(int fd) {
        for (int i = 0; i < MOST_CHUNKS && call(() -> (long) RECV.invokeExact(fd, BYTES, CHUNK, MSG_DONTWAIT)) > 0; i++) {
            // The loop only makes the call.
        }
    }

    static void socketOption(int fd, int option, int value) {
        BYTES.set(JAVA_INT, 0, value);
        call(() -> (int) SETSOCKOPT.invokeExact(fd, SOL_SOCKET, option, BYTES, 4));
    }
}
