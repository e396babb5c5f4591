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
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Checks that functions of the C library receive complete arguments, and that their failures are reported by errno. */
class CFunctionTest {
    private static final int EBADF = 9;
    private static final int AT_FDCWD = -100;
    private static final int F_GETFL = 3;
    private static final int O_RDWR = 2;
    private static final int O_CLOEXEC = 0x80000;

    private static final CFunction OPENAT = CFunction.of("openat", 4);
    private static final CFunction FCNTL = CFunction.of("fcntl", 3);
    private static final CFunction PREAD = CFunction.of("pread", 4);
    private static final CFunction PWRITE = CFunction.of("pwrite", 4);
    private static final CFunction LSEEK = CFunction.of("lseek", 3);
    private static final CFunction CLOSE = CFunction.of("close", 1);

    @Test
    void aFailureIsANegativeErrno() {
        assertEquals(-EBADF, CLOSE.call(-1));
        assertEquals(-EBADF, LSEEK.callLong(-1, 0, 0));
        assertEquals(-EBADF, PREAD.callLong(-1, 0, 0, 0));
        assertEquals(-EBADF, FCNTL.call(-1, F_GETFL, 0));
    }

    /** A negative int, a pointer, a size and an offset beyond 4 GiB each arrive as C expects them. */
    @Test
    void argumentsOfAllKindsArrive() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom("/dev/zero");
            int fd = OPENAT.call(AT_FDCWD, path.address(), O_RDWR | O_CLOEXEC, 0);
            assertTrue(fd >= 0, "openat: " + fd);
            try {
                assertEquals(O_RDWR, FCNTL.call(fd, F_GETFL, 0) & 3);
                MemorySegment bytes = arena.allocate(8).fill((byte) 1);
                assertEquals(8, PREAD.callLong(fd, bytes.address(), 8, 1L << 40));
                assertEquals(0, bytes.get(ValueLayout.JAVA_LONG, 0));
                assertEquals(8, PWRITE.callLong(fd, bytes.address(), 8, 1L << 40));
            } finally {
                assertEquals(0, CLOSE.call(fd));
            }
        }
    }

    /** The JDK generates code for each type, while the process starts. */
    @Test
    void allFunctionsShareOneType() {
        assertEquals(PREAD.handle().type(), CLOSE.handle().type());
        assertEquals(CFunction.of("mmap", 6).handle().type(), CFunction.of("getpid", 0).handle().type());
    }

    @Test
    void aFunctionWithoutArgumentsIgnoresTheRegisters() {
        assertEquals(ProcessHandle.current().pid(), CFunction.of("getpid", 0).callUnsigned());
    }

    @Test
    void moreArgumentsThanRegistersAreRefused() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> CFunction.of("syscall", 7));
        assertTrue(e.getMessage().contains("syscall has 7 arguments"), e.getMessage());
    }

    /** The tests run with assertions, so a call with another number of arguments does not go unnoticed. */
    @Test
    void aCallPassesAsManyArgumentsAsTheFunctionHas() {
        assertThrows(AssertionError.class, () -> LSEEK.callLong(-1));
    }

    @Test
    void aFunctionThatIsMissingIsNamed() {
        RpmaUnavailableException e =
            assertThrows(RpmaUnavailableException.class, () -> CFunction.of("no_such_function", 1));
        assertTrue(e.getMessage().contains("no_such_function"), e.getMessage());
    }
}
