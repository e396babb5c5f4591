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

import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/** The calls of the C library for files by their paths. A call that fails returns {@code -errno}. */
final class FileCalls {
    /** The file exists. */
    static final int EEXIST = 17;
    /** The file system is read-only. */
    static final int EROFS = 30;
    /** A symbolic link where none may be. */
    static final int ELOOP = 40;

    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_NOFOLLOW = System.getProperty("os.arch").equals("aarch64") ? 0x8000 : 0x20000;
    private static final int O_CLOEXEC = 0x80000;
    private static final int O_PATH = 0x200000;
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int LOCK_EX_NB = 6;
    private static final int NOBODY_ELSE = 0600;

    private static final MethodHandle OPEN = Posix.downcall("open",
        FunctionDescriptor.of(JAVA_INT, ValueLayout.ADDRESS, JAVA_INT, JAVA_INT),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FLOCK = Posix.downcallErrno("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle UNLINK = Posix.downcallErrno("unlink",
        FunctionDescriptor.of(JAVA_INT, ValueLayout.ADDRESS));
    private static final MethodHandle RENAME = Posix.downcallErrno("rename",
        FunctionDescriptor.of(JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    private static final MethodHandle FCHMODAT = Posix.downcallErrno("fchmodat",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ValueLayout.ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle FCHOWNAT = Posix.downcallErrno("fchownat",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, ValueLayout.ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT));

    private FileCalls() {
    }

    /** Opens a path as a place only: nothing can be read by it. */
    static int openPlace(String path) {
        return open(path, O_PATH);
    }

    /** Opens a file for reading, without waiting for anything, and follows no symbolic link. */
    static int openFile(String path) {
        return open(path, O_NOFOLLOW | O_NONBLOCK);
    }

    /** Creates a file that nobody else can open yet; fails if there is one. */
    static int createFile(String path) {
        return open(path, O_CREAT | O_EXCL | O_NOFOLLOW | Libc.O_RDWR);
    }

    private static int open(String path, int flags) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) OPEN.invokeExact(capture, arena.allocateFrom(path), flags | O_CLOEXEC, NOBODY_ELSE);
            return fd < 0 ? -Posix.errno(capture) : fd;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Locks an open file for this process alone, without waiting; {@code -EAGAIN} if another open file of it is locked. */
    static int lock(int fd) {
        MemorySegment capture = Posix.capture();
        try {
            return (int) FLOCK.invokeExact(capture, fd, LOCK_EX_NB) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Removes a file. */
    static int remove(String path) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            return (int) UNLINK.invokeExact(capture, arena.allocateFrom(path)) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Gives a file another name, in place of a file that has it. */
    static int rename(String from, String to) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            return (int) RENAME.invokeExact(capture, arena.allocateFrom(from), arena.allocateFrom(to)) == 0
                ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Changes the mode of a file, not that of the target of a symbolic link. */
    static int changeMode(String path, int mode) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            return (int) FCHMODAT.invokeExact(capture, AT_FDCWD, arena.allocateFrom(path), mode, AT_SYMLINK_NOFOLLOW) == 0
                ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Changes the group of a file, not that of the target of a symbolic link. */
    static int changeGroup(String path, int group) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            return (int) FCHOWNAT.invokeExact(capture, AT_FDCWD, arena.allocateFrom(path), -1, group, AT_SYMLINK_NOFOLLOW) == 0
                ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
