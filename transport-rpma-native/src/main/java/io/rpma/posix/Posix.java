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
package io.rpma.posix;

import io.rpma.RpmaUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The functions of the C library that several providers need, and the methods to bind more. Addresses and sizes are longs. A call
 * that fails returns {@code -errno}, so that the caller needs no second call to get the cause.
 */
public final class Posix {
    /** Operation not permitted. */
    public static final int EPERM = 1;
    /** No such file or directory. */
    public static final int ENOENT = 2;
    /** Interrupted by a signal. */
    public static final int EINTR = 4;
    /** No data available now. */
    public static final int EAGAIN = 11;
    /** Out of memory, or past the limit of locked memory. */
    public static final int ENOMEM = 12;
    /** Permission denied. */
    public static final int EACCES = 13;
    /** Bad address. */
    public static final int EFAULT = 14;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Invalid argument. */
    public static final int EINVAL = 22;
    /** The port is in use. */
    public static final int EADDRINUSE = 98;
    /** The address is not this host's. */
    public static final int EADDRNOTAVAIL = 99;
    /** No route to the network. */
    public static final int ENETUNREACH = 101;
    /** Protocol not supported. */
    public static final int EPROTONOSUPPORT = 93;
    /** Timed out. */
    public static final int ETIMEDOUT = 110;
    /** Connection refused: there is no listener. */
    public static final int ECONNREFUSED = 111;

    /** {@code PROT_READ}. */
    public static final int PROT_READ = 1;
    /** {@code PROT_WRITE}. */
    public static final int PROT_WRITE = 2;
    /** {@code PROT_EXEC}. */
    public static final int PROT_EXEC = 4;
    /** {@code MAP_SHARED}. */
    public static final int MAP_SHARED = 1;
    /** {@code MAP_PRIVATE}. */
    public static final int MAP_PRIVATE = 2;
    /** {@code MAP_FIXED}. */
    public static final int MAP_FIXED = 0x10;
    /** {@code MAP_ANONYMOUS}. */
    public static final int MAP_ANONYMOUS = 0x20;
    /** {@code MAP_NORESERVE}. */
    public static final int MAP_NORESERVE = 0x4000;
    /** {@code MAP_POPULATE}. */
    public static final int MAP_POPULATE = 0x8000;

    /** {@code RLIMIT_MEMLOCK}. */
    public static final int RLIMIT_MEMLOCK = 8;
    /** {@code RLIMIT_NOFILE}. */
    public static final int RLIMIT_NOFILE = 7;
    /** What {@link #softLimit} returns where there is no limit. */
    public static final long UNLIMITED = -1;

    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int O_NONBLOCK = 0x800;
    private static final int MS_SYNC = 4;
    private static final int EFD_NONBLOCK_CLOEXEC = 0x80800;
    private static final int SC_PAGESIZE = 30;

    private static final Linker LINKER = NativeAccess.linker();
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    // An access by offset, because a handle for a field of a structure makes the JDK generate classes while a process starts.
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final long LONGEST_TEXT = 4096;

    // One capture area per thread: it holds errno only between a call and the statement after it.
    private static final ThreadLocal<MemorySegment> CAPTURED =
        ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CAPTURE));

    private static final CFunction MMAP = CFunction.of("mmap", 6);
    private static final CFunction MUNMAP = CFunction.of("munmap", 2);
    private static final CFunction MPROTECT = CFunction.of("mprotect", 3);
    private static final CFunction CLOSE = CFunction.of("close", 1);
    private static final CFunction FCNTL = CFunction.of("fcntl", 3);
    private static final CFunction GETRLIMIT = CFunction.of("getrlimit", 2);
    private static final CFunction MSYNC = CFunction.of("msync", 3);
    private static final CFunction EVENTFD = CFunction.of("eventfd", 2);
    private static final CFunction EVENTFD_WRITE = CFunction.of("eventfd_write", 2);
    private static final CFunction EVENTFD_READ = CFunction.of("eventfd_read", 2);
    private static final CFunction STRERROR = CFunction.of("strerror", 1);

    /** The page size in bytes. */
    public static final long PAGE_SIZE = CFunction.of("sysconf", 1).callLong(SC_PAGESIZE);

    private Posix() {
    }

    /**
     * Binds a function of the C library.
     *
     * @param name the function
     * @param descriptor its type, handles and pointers preferably as longs
     * @param options linker options
     * @return the handle, for a static final field and {@code invokeExact}
     */
    public static MethodHandle downcall(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        MemorySegment symbol = LINKER.defaultLookup().find(name).orElseThrow(() -> new RpmaUnavailableException(
            "the C library has no function " + name + "; Linux with glibc or musl is needed", null));
        return LINKER.downcallHandle(symbol, descriptor, options);
    }

    /**
     * Binds a function that reports errors by {@code errno}: the handle's first argument is {@link #capture()}.
     *
     * @param name the function
     * @param descriptor its type
     * @return the handle
     */
    public static MethodHandle downcallErrno(String name, FunctionDescriptor descriptor) {
        return downcall(name, descriptor, Linker.Option.captureCallState("errno"));
    }

    /** Returns the area of this thread that receives {@code errno}. */
    public static MemorySegment capture() {
        return CAPTURED.get();
    }

    /** Returns the {@code errno} that the last captured call of this thread left. */
    public static int errno(MemorySegment capture) {
        return capture.get(JAVA_INT, ERRNO);
    }

    /** Returns the C library's text for an error number. */
    public static String strerror(int errno) {
        return MemorySegment.ofAddress(STRERROR.callLong(errno)).reinterpret(LONGEST_TEXT).getString(0);
    }

    /**
     * Maps memory ({@code mmap(2)}).
     *
     * @return the address, or {@code -errno}
     */
    public static long mmap(long address, long length, int protection, int flags, int fd, long offset) {
        return MMAP.callLong(address, length, protection, flags, fd, offset);
    }

    /**
     * Unmaps memory ({@code munmap(2)}).
     *
     * @return 0, or {@code -errno}
     */
    public static int munmap(long address, long length) {
        return MUNMAP.call(address, length);
    }

    /**
     * Changes what mapped memory may be used for ({@code mprotect(2)}).
     *
     * @return 0, or {@code -errno}
     */
    public static int mprotect(long address, long length, int protection) {
        return MPROTECT.call(address, length, protection);
    }

    /**
     * Closes a descriptor ({@code close(2)}).
     *
     * @return 0, or {@code -errno}; the descriptor is closed in any case
     */
    public static int close(int fd) {
        return CLOSE.call(fd);
    }

    /**
     * Executes a command on a descriptor ({@code fcntl(2)}).
     *
     * @return the result of the command, or {@code -errno}
     */
    public static int fcntl(int fd, int command, int argument) {
        return FCNTL.call(fd, command, argument);
    }

    /**
     * Makes a descriptor non-blocking.
     *
     * @return 0, or {@code -errno}
     */
    public static int setNonBlocking(int fd) {
        int flags = fcntl(fd, F_GETFL, 0);
        return flags < 0 ? flags : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    }

    /**
     * Creates a second descriptor for the open file of a descriptor.
     *
     * @return the descriptor, or {@code -errno}
     */
    public static int duplicate(int fd) {
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    }

    /**
     * Writes whole pages to the file behind them ({@code msync(2)} with {@code MS_SYNC}). Blocks while a disk writes.
     *
     * @return 0, or {@code -errno}
     */
    public static int msync(long address, long length) {
        return MSYNC.call(address, length, MS_SYNC);
    }

    /**
     * Creates a non-blocking event descriptor ({@code eventfd(2)}).
     *
     * @return the descriptor, or {@code -errno}
     */
    public static int eventfd(int count) {
        return EVENTFD.call(count, EFD_NONBLOCK_CLOEXEC);
    }

    /** Makes an event descriptor readable. */
    public static void signalEvent(int fd) {
        EVENTFD_WRITE.call(fd, 1L);
    }

    /** Makes an event descriptor unreadable. */
    public static void clearEvent(int fd) {
        EVENTFD_READ.call(fd, Scratch.get().vectors());
    }

    /**
     * Returns a soft limit of this process ({@code getrlimit(2)}).
     *
     * @param resource {@link #RLIMIT_MEMLOCK} (bytes) or {@link #RLIMIT_NOFILE}
     * @return the limit, {@link #UNLIMITED} if there is none
     */
    public static long softLimit(int resource) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(16, 8);
            return GETRLIMIT.call(resource, limit.address()) == 0 ? limit.get(JAVA_LONG, 0) : UNLIMITED;
        }
    }

    /** Converts the {@code Throwable} that {@code invokeExact} declares to an unchecked exception. */
    public static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        if (e instanceof RuntimeException runtime) {
            return runtime;
        }
        return new IllegalStateException(e);
    }
}
