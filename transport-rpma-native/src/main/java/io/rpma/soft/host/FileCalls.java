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
package io.rpma.soft.host;

import io.rpma.posix.CFunction;
import java.lang.foreign.Arena;

/** The calls of the C library for files by their paths. A call that fails returns {@code -errno}. */
public final class FileCalls {
    /** The file exists. */
    static final int EEXIST = 17;
    /** The file system is read-only. */
    public static final int EROFS = 30;
    /** The path is a symbolic link, which the call does not permit. */
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

    private static final CFunction OPEN = CFunction.of("open", 3);
    private static final CFunction FLOCK = CFunction.of("flock", 2);
    private static final CFunction UNLINK = CFunction.of("unlink", 1);
    private static final CFunction RENAME = CFunction.of("rename", 2);
    private static final CFunction CHMOD = CFunction.of("chmod", 2);
    private static final CFunction FCHOWNAT = CFunction.of("fchownat", 5);

    private FileCalls() {
    }

    /** Opens a path only as a location ({@code O_PATH}): the descriptor cannot be read. */
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
        try (Arena arena = Arena.ofConfined()) {
            return OPEN.call(arena.allocateFrom(path).address(), flags | O_CLOEXEC, NOBODY_ELSE);
        }
    }

    /** Locks an open file for this process alone, without waiting; {@code -EAGAIN} if another open file of it is locked. */
    static int lock(int fd) {
        return FLOCK.call(fd, LOCK_EX_NB);
    }

    /** Removes a file. */
    static int remove(String path) {
        try (Arena arena = Arena.ofConfined()) {
            return UNLINK.call(arena.allocateFrom(path).address());
        }
    }

    /** Renames a file, and replaces a file that has the new name. */
    static int rename(String from, String to) {
        try (Arena arena = Arena.ofConfined()) {
            return RENAME.call(arena.allocateFrom(from).address(), arena.allocateFrom(to).address());
        }
    }

    /** Opens a file or a symbolic link only as a location: the descriptor cannot be read. */
    static int openPlaceItself(String path) {
        return open(path, O_PATH | O_NOFOLLOW);
    }

    /**
     * Changes the mode of a file by its path, and follows symbolic links. The flag of {@code fchmodat(3)} that prevents this is
     * not supported by the GNU C library before 2.32.
     */
    static int changeMode(String path, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            return CHMOD.call(arena.allocateFrom(path).address(), mode);
        }
    }

    /** Changes the group of a file, not that of the target of a symbolic link. */
    static int changeGroup(String path, int group) {
        try (Arena arena = Arena.ofConfined()) {
            return FCHOWNAT.call(AT_FDCWD, arena.allocateFrom(path).address(), -1, group, AT_SYMLINK_NOFOLLOW);
        }
    }
}
