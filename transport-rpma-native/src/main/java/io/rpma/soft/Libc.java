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

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The calls of the C library for memory, events and other processes. A call that fails returns {@code -errno}. */
final class Libc {
    /** No such process. */
    static final int ESRCH = 3;
    /** Not a file of the kind that the call is for. */
    static final int EBADF = 9;
    /** Bad address. */
    static final int EFAULT = 14;

    /** {@code F_SEAL_SEAL}: no further seals. */
    static final int F_SEAL_SEAL = 1;
    /** {@code F_SEAL_SHRINK}: the file cannot become smaller, so that a mapping of it cannot fault. */
    static final int F_SEAL_SHRINK = 2;
    /** {@code F_SEAL_GROW}: the file cannot become larger. */
    static final int F_SEAL_GROW = 4;
    /**
     * {@code F_SEAL_FUTURE_WRITE} (Linux 5.1): from now on nobody can write to the file or map it writable, whoever has or opens
     * it, the owner included; writable mappings that exist already stay writable.
     */
    static final int F_SEAL_FUTURE_WRITE = 0x10;

    /** {@code FALLOC_FL_KEEP_SIZE}. */
    static final int FALLOC_FL_KEEP_SIZE = 1;
    /** {@code FALLOC_FL_PUNCH_HOLE}. */
    static final int FALLOC_FL_PUNCH_HOLE = 2;

    /** {@code MADV_POPULATE_READ}. */
    static final int MADV_POPULATE_READ = 22;
    /** {@code MADV_POPULATE_WRITE}. */
    static final int MADV_POPULATE_WRITE = 23;
    /** {@code MADV_WILLNEED}. */
    static final int MADV_WILLNEED = 3;
    /** {@code MS_SYNC}. */
    static final int MS_SYNC = 4;

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    /** Open for writing only. */
    static final int O_WRONLY = 1;
    /** Open for reading and writing. */
    static final int O_RDWR = 2;

    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final int F_GETPIPE_SZ = 1032;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int SEEK_END = 2;
    private static final long TMPFS_MAGIC = 0x01021994;
    private static final int CLOCK_MONOTONIC = 1;
    private static final int TFD_CLOEXEC = 0x80000;
    private static final int TFD_NONBLOCK = 0x800;
    private static final int PR_GET_DUMPABLE = 3;
    private static final int PR_SET_PTRACER = 0x59616d61;
    private static final long PR_SET_PTRACER_ANY = -1;
    private static final byte[] FD_FOLDER = "/proc/self/fd/".getBytes(StandardCharsets.US_ASCII);

    private static final MethodHandle MEMFD_CREATE = Posix.downcallErrno("memfd_create",
        FunctionDescriptor.of(JAVA_INT, ValueLayout.ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE = Posix.downcallErrno("ftruncate",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FALLOCATE = Posix.downcallErrno("fallocate",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle LSEEK = Posix.downcallErrno("lseek",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle FSTATFS = Posix.downcallErrno("fstatfs",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FCNTL = Posix.downcall("fcntl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle PIPE2 = Posix.downcallErrno("pipe2",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle OPEN = Posix.downcall("open",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle FCHMOD = Posix.downcallErrno("fchmod",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle READ = Posix.downcallErrno("read",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle WRITE = Posix.downcallErrno("write",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle DUP3 = Posix.downcallErrno("dup3",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle MADVISE = Posix.downcallErrno("madvise",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle PROCESS_VM_READV = Posix.downcallErrno("process_vm_readv",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle PROCESS_VM_WRITEV = Posix.downcallErrno("process_vm_writev",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle PRCTL = Posix.downcall("prctl",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(1));
    private static final MethodHandle GETEUID = Posix.downcall("geteuid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle TIMERFD_CREATE = Posix.downcallErrno("timerfd_create",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle TIMERFD_SETTIME = Posix.downcallErrno("timerfd_settime",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));

    // What a doorbell writes; never changed.
    private static final long ONE = one();

    private Libc() {
    }

    private static long one() {
        MemorySegment one = Arena.global().allocate(8, 8);
        one.set(JAVA_LONG, 0, 1);
        return one.address();
    }

    /** Returns the effective user of this process. */
    static int geteuid() {
        try {
            return (int) GETEUID.invokeExact();
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Creates an anonymous file in memory that can be sealed. */
    static int memfdCreate(String name) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            int fd = (int) MEMFD_CREATE.invokeExact(capture, arena.allocateFrom(name), MFD_CLOEXEC | MFD_ALLOW_SEALING);
            return fd < 0 ? -Posix.errno(capture) : fd;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int ftruncate(int fd, long size) {
        MemorySegment capture = Posix.capture();
        try {
            return (int) FTRUNCATE.invokeExact(capture, fd, size) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Allocates the pages of a part of a file, or what the mode says. */
    static int fallocate(int fd, int mode, long offset, long length) {
        MemorySegment capture = Posix.capture();
        try {
            return (int) FALLOCATE.invokeExact(capture, fd, mode, offset, length) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Returns the size of a file in bytes. */
    static long size(int fd) {
        MemorySegment capture = Posix.capture();
        try {
            long size = (long) LSEEK.invokeExact(capture, fd, 0L, SEEK_END);
            return size < 0 ? -Posix.errno(capture) : size;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Returns whether a file is one of shared memory in pages of the usual size, a hole of which can be read and written. */
    static boolean isSharedMemory(int fd) {
        MemorySegment capture = Posix.capture();
        long status = Scratch.get().messageAddress();
        try {
            // The first word of a struct statfs, which is smaller than a message, is the kind of file system.
            return (int) FSTATFS.invokeExact(capture, fd, status) == 0 && Memory.getLong(status) == TMPFS_MAGIC;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    static int addSeals(int fd, int seals) {
        return fcntl(fd, F_ADD_SEALS, seals);
    }

    /** Returns the seals of a file; negative if it is none that can be sealed. */
    static int getSeals(int fd) {
        return fcntl(fd, F_GET_SEALS, 0);
    }

    private static int fcntl(int fd, int command, int argument) {
        MemorySegment capture = Posix.capture();
        try {
            int result = (int) FCNTL.invokeExact(capture, fd, command, argument);
            return result < 0 ? -Posix.errno(capture) : result;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Creates a non-blocking pipe: the end to read from, and the end to write to. */
    static int pipe(int[] ends) {
        MemorySegment capture = Posix.capture();
        long pair = Scratch.get().vectors();
        try {
            if ((int) PIPE2.invokeExact(capture, pair, O_NONBLOCK | O_CLOEXEC) != 0) {
                return -Posix.errno(capture);
            }
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
        ends[0] = Memory.getInt(pair);
        ends[1] = Memory.getInt(pair + 4);
        return 0;
    }

    /** Returns whether a descriptor stands for a pipe: no other file has a capacity of that kind. */
    static boolean isPipe(int fd) {
        return fcntl(fd, F_GETPIPE_SZ, 0) > 0;
    }

    /** Opens what a descriptor stands for once more, non-blocking: as an open file of its own, with flags of its own. */
    static int reopen(int fd, int flags) {
        MemorySegment capture = Posix.capture();
        try {
            int result = (int) OPEN.invokeExact(capture, path(fd), flags | O_NONBLOCK | O_CLOEXEC);
            return result < 0 ? -Posix.errno(capture) : result;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Changes the mode of what a descriptor stands for. */
    static int changeMode(int fd, int mode) {
        MemorySegment capture = Posix.capture();
        try {
            return (int) FCHMOD.invokeExact(capture, fd, mode) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Writes one byte, whatever its value. */
    static int signal(int fd) {
        MemorySegment capture = Posix.capture();
        try {
            long written = (long) WRITE.invokeExact(capture, fd, ONE, 1L);
            return written < 0 ? -Posix.errno(capture) : 0;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Reads up to {@code length} bytes. */
    static long read(int fd, long address, long length) {
        MemorySegment capture = Posix.capture();
        try {
            long count = (long) READ.invokeExact(capture, fd, address, length);
            return count < 0 ? -Posix.errno(capture) : count;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Lets a descriptor number stand for what another one stands for; what it stood for before is closed. */
    static int replace(int source, int target) {
        MemorySegment capture = Posix.capture();
        try {
            int result = (int) DUP3.invokeExact(capture, source, target, O_CLOEXEC);
            return result < 0 ? -Posix.errno(capture) : 0;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
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

    static int madvise(long address, long length, int advice) {
        MemorySegment capture = Posix.capture();
        try {
            return (int) MADVISE.invokeExact(capture, address, length, advice) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Copies from another process ({@code process_vm_readv(2)}); returns the bytes copied, which may be fewer. */
    static long processRead(int pid, long remote, long local, long length) {
        return processCopy(PROCESS_VM_READV, pid, remote, local, length);
    }

    /** Copies to another process ({@code process_vm_writev(2)}); returns the bytes copied, which may be fewer. */
    static long processWrite(int pid, long remote, long local, long length) {
        return processCopy(PROCESS_VM_WRITEV, pid, remote, local, length);
    }

    private static long processCopy(MethodHandle call, int pid, long remote, long local, long length) {
        MemorySegment capture = Posix.capture();
        long vectors = Scratch.get().vectors();
        Memory.putLong(vectors, local);
        Memory.putLong(vectors + 8, length);
        Memory.putLong(vectors + 16, remote);
        Memory.putLong(vectors + 24, length);
        try {
            long count = (long) call.invokeExact(capture, pid, vectors, 1L, vectors + 16, 1L, 0L);
            return count < 0 ? -Posix.errno(capture) : count;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Returns whether other processes of this user may look into this one ({@code prctl(PR_GET_DUMPABLE)}). */
    static boolean isDumpable() {
        return prctl(PR_GET_DUMPABLE, 0) == 1;
    }

    /** Lets any process of this user reach the memory of this one where Yama asks for that. */
    static int allowTracers() {
        return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    }

    private static int prctl(int option, long argument) {
        MemorySegment capture = Posix.capture();
        try {
            int result = (int) PRCTL.invokeExact(capture, option, argument, 0L, 0L, 0L);
            return result < 0 ? -Posix.errno(capture) : result;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Creates a non-blocking timer descriptor. */
    static int timerfd() {
        MemorySegment capture = Posix.capture();
        try {
            int fd = (int) TIMERFD_CREATE.invokeExact(capture, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
            return fd < 0 ? -Posix.errno(capture) : fd;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Sets a timer descriptor to go off once; 0 stops it. */
    static int setTimer(int fd, long nanos) {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(32, 8);
            time.set(JAVA_LONG, 16, nanos / 1_000_000_000L);
            time.set(JAVA_LONG, 24, nanos % 1_000_000_000L);
            return (int) TIMERFD_SETTIME.invokeExact(capture, fd, 0, time.address(), 0L) == 0 ? 0 : -Posix.errno(capture);
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
