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
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The calls of the C library for memory, events and other processes. A call that fails returns {@code -errno}. */
public final class Libc {
    /** No such process. */
    public static final int ESRCH = 3;
    /** The descriptor is not open, or its file is not of the kind that the call needs. */
    public static final int EBADF = 9;

    /** {@code F_SEAL_SEAL}: no further seals. */
    public static final int F_SEAL_SEAL = 1;
    /** {@code F_SEAL_SHRINK}: the file cannot become smaller, so that a mapping of it cannot fault. */
    public static final int F_SEAL_SHRINK = 2;
    /** {@code F_SEAL_GROW}: the file cannot become larger. */
    public static final int F_SEAL_GROW = 4;
    /**
     * {@code F_SEAL_FUTURE_WRITE} (Linux 5.1): from now on no process, including the owner, can write to the file or map it
     * writable. Writable mappings that exist already stay writable.
     */
    public static final int F_SEAL_FUTURE_WRITE = 0x10;

    /** {@code FALLOC_FL_KEEP_SIZE}. */
    public static final int FALLOC_FL_KEEP_SIZE = 1;
    /** {@code FALLOC_FL_PUNCH_HOLE}. */
    public static final int FALLOC_FL_PUNCH_HOLE = 2;

    /** {@code MADV_POPULATE_READ}. */
    public static final int MADV_POPULATE_READ = 22;
    /** {@code MADV_POPULATE_WRITE}. */
    public static final int MADV_POPULATE_WRITE = 23;
    /** {@code MADV_WILLNEED}. */
    public static final int MADV_WILLNEED = 3;

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    /** Open for writing only. */
    public static final int O_WRONLY = 1;
    /** Open for reading and writing. */
    public static final int O_RDWR = 2;

    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int SEEK_END = 2;
    private static final int FIONREAD = 0x541b;
    private static final long TMPFS_MAGIC = 0x01021994;
    private static final int CLOCK_MONOTONIC = 1;
    private static final int TFD_CLOEXEC = 0x80000;
    private static final int TFD_NONBLOCK = 0x800;
    private static final int PR_GET_DUMPABLE = 3;
    private static final int PR_SET_PTRACER = 0x59616d61;
    private static final long PR_SET_PTRACER_ANY = -1;
    private static final byte[] FD_FOLDER = "/proc/self/fd/".getBytes(StandardCharsets.US_ASCII);
    // Room for the path of a descriptor, and how the target of that link begins for a pipe; that of a file begins with a slash.
    private static final int PATH_BYTES = 64;
    private static final byte[] PIPE = "pipe:[".getBytes(StandardCharsets.US_ASCII);

    private static final CFunction MEMFD_CREATE = CFunction.of("memfd_create", 2);
    private static final CFunction FTRUNCATE = CFunction.of("ftruncate", 2);
    private static final CFunction FALLOCATE = CFunction.of("fallocate", 4);
    private static final CFunction LSEEK = CFunction.of("lseek", 3);
    private static final CFunction FSTATFS = CFunction.of("fstatfs", 2);
    private static final CFunction PIPE2 = CFunction.of("pipe2", 2);
    private static final CFunction OPEN = CFunction.of("open", 3);
    private static final CFunction FCHMOD = CFunction.of("fchmod", 2);
    private static final CFunction READ = CFunction.of("read", 3);
    private static final CFunction READLINK = CFunction.of("readlink", 3);
    private static final CFunction WRITE = CFunction.of("write", 3);
    private static final CFunction IOCTL = CFunction.of("ioctl", 3);
    private static final CFunction DUP3 = CFunction.of("dup3", 3);
    private static final CFunction MADVISE = CFunction.of("madvise", 3);
    private static final CFunction PROCESS_VM_READV = CFunction.of("process_vm_readv", 6);
    private static final CFunction PROCESS_VM_WRITEV = CFunction.of("process_vm_writev", 6);
    private static final CFunction PRCTL = CFunction.of("prctl", 5);
    private static final CFunction GETEUID = CFunction.of("geteuid", 0);
    private static final CFunction TIMERFD_CREATE = CFunction.of("timerfd_create", 2);
    private static final CFunction TIMERFD_SETTIME = CFunction.of("timerfd_settime", 4);

    // The address of the byte that a doorbell writes; the byte is never changed.
    private static final long ONE = one();

    private Libc() {
    }

    private static long one() {
        MemorySegment one = Arena.global().allocate(8, 8);
        one.set(JAVA_LONG, 0, 1);
        return one.address();
    }

    /** Returns the effective user of this process. */
    public static int geteuid() {
        return GETEUID.callUnsigned();
    }

    /** Creates an anonymous file in memory that can be sealed. */
    public static int memfdCreate(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return MEMFD_CREATE.call(arena.allocateFrom(name).address(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
        }
    }

    public static int ftruncate(int fd, long size) {
        return FTRUNCATE.call(fd, size);
    }

    /** Allocates the pages of a part of a file, or performs the operation that the mode requests. */
    public static int fallocate(int fd, int mode, long offset, long length) {
        return FALLOCATE.call(fd, mode, offset, length);
    }

    /** Returns the size of a file in bytes. */
    public static long size(int fd) {
        return LSEEK.callLong(fd, 0L, SEEK_END);
    }

    /** Returns whether a file is one of shared memory in pages of the usual size, a hole of which can be read and written. */
    public static boolean isSharedMemory(int fd) {
        long status = Scratch.get().messageAddress();
        // The first word of a struct statfs, which is smaller than a message, is the kind of file system.
        return FSTATFS.call(fd, status) == 0 && Memory.getLong(status) == TMPFS_MAGIC;
    }

    public static int addSeals(int fd, int seals) {
        return Posix.fcntl(fd, F_ADD_SEALS, seals);
    }

    /** Returns the seals of a file; a negative number if the file cannot be sealed. */
    public static int getSeals(int fd) {
        return Posix.fcntl(fd, F_GET_SEALS, 0);
    }

    /** Creates a non-blocking pipe: the end to read from, and the end to write to. */
    public static int pipe(int[] ends) {
        long pair = Scratch.get().vectors();
        int result = PIPE2.call(pair, O_NONBLOCK | O_CLOEXEC);
        if (result == 0) {
            ends[0] = Memory.getInt(pair);
            ends[1] = Memory.getInt(pair + 4);
        }
        return result;
    }

    /**
     * Returns whether a descriptor is that of a pipe without a name. The kernel itself knows what a descriptor leads to; asking
     * the file system of a named pipe, as {@code fstat(2)} does, or opening it can block if that is a process (FUSE).
     */
    public static boolean isPipe(int fd) {
        long path = path(fd);
        long link = path + PATH_BYTES;
        boolean is = READLINK.callLong(path, link, PIPE.length) == PIPE.length;
        for (int i = 0; is && i < PIPE.length; i++) {
            is = Memory.getByte(link + i) == PIPE[i];
        }
        return is;
    }

    /** Opens the file of a descriptor again, non-blocking, as a new open file description with its own flags. */
    public static int reopen(int fd, int flags) {
        return OPEN.call(path(fd), flags | O_NONBLOCK | O_CLOEXEC, 0);
    }

    /** Changes the mode of the file of a descriptor. */
    public static int changeMode(int fd, int mode) {
        return FCHMOD.call(fd, mode);
    }

    /** Writes one byte, whatever its value. */
    public static int signal(int fd) {
        return (int) Math.min(0, WRITE.callLong(fd, ONE, 1L));
    }

    /** Reads up to {@code length} bytes. */
    public static long read(int fd, long address, long length) {
        return READ.callLong(fd, address, length);
    }

    /** Returns the number of bytes that can be read from a pipe, at either end of it, or a negative errno. */
    public static int bytesIn(int fd) {
        long count = Scratch.get().vectors();
        int result = IOCTL.call(fd, (long) FIONREAD, count);
        return result < 0 ? result : Memory.getInt(count);
    }

    /** Makes the descriptor {@code target} a duplicate of {@code source}; the previous file of {@code target} is closed. */
    public static int replace(int source, int target) {
        return Math.min(0, DUP3.call(source, target, O_CLOEXEC));
    }

    /** Writes the path of a descriptor in {@code /proc} to the scratch memory. */
    private static long path(int fd) {
        long path = Scratch.get().messageAddress();
        long end = path;
        for (byte character : FD_FOLDER) {
            Memory.putByte(end++, character);
        }
        for (int unit = 1_000_000_000; unit > 0; unit /= 10) {
            if (fd >= unit || unit == 1) {
                Memory.putByte(end++, (byte) ('0' + fd / unit % 10));
            }
        }
        Memory.putByte(end, (byte) 0);
        return path;
    }

    public static int madvise(long address, long length, int advice) {
        return MADVISE.call(address, length, advice);
    }

    /** Copies from another process ({@code process_vm_readv(2)}); returns the bytes copied, which may be fewer. */
    public static long processRead(int pid, long remote, long local, long length) {
        return processCopy(PROCESS_VM_READV, pid, remote, local, length);
    }

    /** Copies to another process ({@code process_vm_writev(2)}); returns the bytes copied, which may be fewer. */
    public static long processWrite(int pid, long remote, long local, long length) {
        return processCopy(PROCESS_VM_WRITEV, pid, remote, local, length);
    }

    private static long processCopy(CFunction call, int pid, long remote, long local, long length) {
        long vectors = Scratch.get().vectors();
        Memory.putLong(vectors, local);
        Memory.putLong(vectors + 8, length);
        Memory.putLong(vectors + 16, remote);
        Memory.putLong(vectors + 24, length);
        return call.callLong(pid, vectors, 1L, vectors + 16, 1L, 0L);
    }

    /** Returns whether other processes of this user may access the memory of this one ({@code prctl(PR_GET_DUMPABLE)}). */
    public static boolean isDumpable() {
        return prctl(PR_GET_DUMPABLE, 0) == 1;
    }

    /** Permits every process of this user to access the memory of this one, which Yama otherwise refuses. */
    public static int allowTracers() {
        return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    }

    private static int prctl(int option, long argument) {
        return PRCTL.call(option, argument, 0L, 0L, 0L);
    }

    /** Creates a non-blocking timer descriptor. */
    public static int timerfd() {
        return TIMERFD_CREATE.call(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    }

    /** Sets a timer descriptor to expire once, after this time; 0 stops it. */
    public static int setTimer(int fd, long nanos) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(32, 8);
            time.set(JAVA_LONG, 16, nanos / 1_000_000_000L);
            time.set(JAVA_LONG, 24, nanos % 1_000_000_000L);
            return TIMERFD_SETTIME.call(fd, 0, time.address(), 0L);
        }
    }
}
