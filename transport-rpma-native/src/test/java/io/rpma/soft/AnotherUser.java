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
import io.rpma.posix.Sockets;
import io.rpma.soft.host.Libc;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Assumptions;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Another user of this host, as which a test makes system calls. In the kernel, each thread has its own user. A process that
 * queries the peer of a socket gets the user of the thread that connected or listened. Only root can become another user.
 *
 * <p>Each call runs on a thread of its own, which then ends. A thread that returns to its first user has new credentials in the
 * kernel, although they are equal to the old ones. The kernel does not accept work requests from such a thread for an RDMA device
 * that the process opened with the old ones, so later tests on the same thread would fail.
 */
public final class AnotherUser {
    /** The identifier of the user, which need not have a name. */
    static final int ID = 54_321;

    private static final long SETRESUID = System.getProperty("os.arch").equals("aarch64") ? 147 : 117;
    // This is not the function of the C library, which changes all threads.
    private static final MethodHandle SYSCALL = Posix.downcall("syscall",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(1));

    private AnotherUser() {
    }

    /** Skips the test unless this process is root. */
    public static void assumeRoot() {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can act as another user");
    }

    /** Runs system calls as the other user and waits for them. The result is that of a call in {@link Sockets}. */
    public static int call(IntSupplier action) {
        FutureTask<Integer> task = new FutureTask<>(() -> {
            become();
            return action.getAsInt();
        });
        Thread.ofPlatform().name("user " + ID).start(task);
        try {
            return task.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private static void become() {
        MemorySegment capture = Posix.capture();
        try {
            long result = (long) SYSCALL.invokeExact(capture, SETRESUID, -1L, (long) ID, -1L);
            if (result != 0) {
                throw new AssertionError("setresuid: " + Posix.strerror(Posix.errno(capture)));
            }
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
