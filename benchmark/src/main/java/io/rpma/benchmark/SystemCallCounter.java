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
package io.rpma.benchmark;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts the system calls of a process with {@code perf_event_open(2)}: those of the threads that it has when the counter is
 * opened, and of all threads that these start later. While a counter is open, every system call of the machine takes longer.
 */
final class SystemCallCounter implements AutoCloseable {
    private static final List<Path> TRACEPOINT = List.of(Path.of("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"),
        Path.of("/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id"));
    private static final String REMEDY =
        "; run it as root, or with kernel.perf_event_paranoid=-1 and a readable /sys/kernel/tracing";

    /** The size of the first version of {@code struct perf_event_attr}, which every kernel accepts. */
    private static final int ATTRIBUTES = 64;
    private static final int PERF_TYPE_TRACEPOINT = 2;
    private static final int OFFSET_SIZE = 4;
    private static final int OFFSET_CONFIG = 8;
    private static final int OFFSET_FLAGS = 40;
    /** Threads that the thread starts later are counted, too. */
    private static final long FLAG_INHERIT = 1 << 1;
    private static final long ANY_PROCESSOR = -1;
    private static final long NO_GROUP = -1;
    private static final long PERF_FLAG_FD_CLOEXEC = 1 << 3;
    private static final int ESRCH = 3;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL = LINKER.downcallHandle(find("syscall"),
        FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
        Linker.Option.firstVariadicArg(1), Linker.Option.captureCallState("errno"));
    private static final MethodHandle READ = LINKER.downcallHandle(find("read"), FunctionDescriptor.of(ValueLayout.JAVA_LONG,
        ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle CLOSE = LINKER.downcallHandle(find("close"), FunctionDescriptor.of(ValueLayout.JAVA_INT,
        ValueLayout.JAVA_INT));

    private final List<Integer> events = new ArrayList<>();

    /**
     * Starts to count.
     *
     * @param pid the process
     * @throws IOException if the kernel does not allow it
     */
    SystemCallCounter(long pid) throws IOException {
        long tracepoint = tracepoint();
        boolean done = false;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads) {
                open(tracepoint, Long.parseLong(thread.getFileName().toString()));
            }
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** Throws if the system calls of processes cannot be counted on this machine. */
    static void check() throws IOException {
        new SystemCallCounter(ProcessHandle.current().pid()).close();
    }

    private static MemorySegment find(String function) {
        return LINKER.defaultLookup().or(SymbolLookup.loaderLookup()).find(function).orElseThrow();
    }

    private static long tracepoint() throws IOException {
        for (Path file : TRACEPOINT) {
            if (Files.isReadable(file)) {
                return Long.parseLong(Files.readString(file).trim());
            }
        }
        throw new IOException("system calls cannot be counted: " + TRACEPOINT.getFirst() + " is not readable" + REMEDY);
    }

    private void open(long tracepoint, long thread) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ATTRIBUTES, Long.BYTES);
            attributes.set(ValueLayout.JAVA_INT, 0, PERF_TYPE_TRACEPOINT);
            attributes.set(ValueLayout.JAVA_INT, OFFSET_SIZE, ATTRIBUTES);
            attributes.set(ValueLayout.JAVA_LONG, OFFSET_CONFIG, tracepoint);
            attributes.set(ValueLayout.JAVA_LONG, OFFSET_FLAGS, FLAG_INHERIT);
            MemorySegment state = arena.allocate(CALL_STATE);
            long fd = (long) SYSCALL.invokeExact(state, number(), attributes, thread, ANY_PROCESSOR, NO_GROUP,
                PERF_FLAG_FD_CLOEXEC);
            if (fd >= 0) {
                events.add((int) fd);
                return;
            }
            int errno = (int) ERRNO.get(state, 0L);
            if (errno != ESRCH) {
                throw new IOException("system calls cannot be counted: perf_event_open failed with errno " + errno + REMEDY);
            }
            // The thread has ended.
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static long number() throws IOException {
        return switch (System.getProperty("os.arch")) {
            case "amd64", "x86_64" -> 298;
            case "aarch64" -> 241;
            default -> throw new IOException("system calls cannot be counted: the number of perf_event_open is not known for "
                + System.getProperty("os.arch"));
        };
    }

    /** Returns the number of system calls since the counter was opened. */
    long count() throws IOException {
        long total = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ValueLayout.JAVA_LONG);
            for (int fd : events) {
                long length = (long) READ.invokeExact(fd, value, (long) Long.BYTES);
                if (length != Long.BYTES) {
                    throw new IOException("the count of system calls cannot be read");
                }
                total += value.get(ValueLayout.JAVA_LONG, 0);
            }
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return total;
    }

    @Override
    public void close() {
        for (int fd : events) {
            try {
                int ignored = (int) CLOSE.invokeExact(fd);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
        events.clear();
    }
}
