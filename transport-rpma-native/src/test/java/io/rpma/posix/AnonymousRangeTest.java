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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a range, also one whose process may not have the memory that it asks for. */
@Timeout(120)
class AnonymousRangeTest {
    private static final long MIB = 1 << 20;
    private static final long SIZE = 256 * MIB;
    private static final long PART = MIB;

    // What the callback of whileUsed() runs, and the failure of that.
    private static Runnable action;
    private static Throwable failure;

    /** The process with too little memory. */
    static final class Child {
        private static final int RLIMIT_DATA = 2;
        private static final long UNLIMITED = -1;
        private static final MethodHandle SETRLIMIT = Posix.downcallErrno("setrlimit",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

        private Child() {
        }

        public static void main(String[] arguments) throws Exception {
            AnonymousRange range = AnonymousRange.reserve(SIZE);
            range.commit(PART, PART).fill((byte) 1);
            limit(status("VmData") + SIZE / 2);
            String answer = "not refused";
            try {
                range.commit(2 * PART, SIZE - 2 * PART);
            } catch (RpmaException e) {
                answer = e.error() + " " + e.errno();
            }
            answer += ", reserved: " + isReserved(range.address(), range.address() + SIZE);
            MemorySegment later = range.commit(2 * PART, PART);
            answer += ", zero: " + later.get(JAVA_BYTE, PART - 1);
            limit(UNLIMITED);
            MemorySegment rest = range.commit(3 * PART, SIZE - 3 * PART);
            answer += ", " + rest.fill((byte) 2).get(JAVA_BYTE, 0);
            long resident = status("VmRSS");
            range.decommit(3 * PART, SIZE - 3 * PART);
            answer += ", given back: " + (resident - status("VmRSS") > SIZE / 2);
            MemorySegment again = range.commit(3 * PART, SIZE - 3 * PART);
            answer += ", zero: " + again.get(JAVA_BYTE, 0);
            answer += ", reserved: " + isReserved(range.address(), range.address() + SIZE);
            range.close();
            System.out.println(answer);
            System.exit(0);
        }

        private static void limit(long bytes) throws Exception {
            MemorySegment capture = Posix.capture();
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment limits = arena.allocate(16, 8);
                limits.set(JAVA_LONG, 0, bytes);
                limits.set(JAVA_LONG, 8, UNLIMITED);
                int result = (int) SETRLIMIT.invokeExact(capture, RLIMIT_DATA, limits.address());
                if (result != 0) {
                    throw new AssertionError("setrlimit: " + Posix.strerror(Posix.errno(capture)));
                }
            } catch (Throwable e) {
                throw Posix.unexpected(e);
            }
        }

        private static long status(String field) throws Exception {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(field + ":")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
            throw new AssertionError(field);
        }

        /** Returns whether mappings of this process cover the addresses without a gap. */
        private static boolean isReserved(long begin, long end) throws Exception {
            long at = begin;
            for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
                String[] bounds = line.substring(0, line.indexOf(' ')).split("-");
                long from = Long.parseUnsignedLong(bounds[0], 16);
                long to = Long.parseUnsignedLong(bounds[1], 16);
                if (from <= at && at < to) {
                    at = to;
                }
            }
            return at >= end;
        }
    }

    /** A commit that the system refuses leaves the addresses reserved, and a later one succeeds. */
    @Test
    void aRefusedCommitKeepsTheAddresses() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process child = new ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED", "-Xmx64m", "-XX:+UseSerialGC", "-cp",
            classPath, Child.class.getName()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals("NO_MEMORY 12, reserved: true, zero: 0, 2, given back: true, zero: 0, reserved: true",
                child.inputReader().readLine());
            assertTrue(child.waitFor(30, TimeUnit.SECONDS));
        } finally {
            child.destroyForcibly();
        }
    }

    /** The message for a size that is too large states the largest size, not the smallest. */
    @Test
    void theMessageForASizeThatIsTooLargeStatesTheLargest() {
        RpmaException refused = assertThrows(RpmaException.class, () -> AnonymousRange.reserve(Long.MAX_VALUE));
        assertEquals(RpmaError.INVALID, refused.error());
        assertEquals("reserve: the size is " + Long.MAX_VALUE + " bytes; it must be 1 to "
            + (Long.MAX_VALUE - Posix.PAGE_SIZE), refused.getMessage());
    }

    /** If a part is in use while its range is closed, the memory of the other parts is neither lost nor passed on. */
    @Test
    void aRangeThatCannotBeClosedKeepsItsMemory() throws Throwable {
        AnonymousRange range = AnonymousRange.reserve(4 * PART);
        range.commit(0, PART).fill((byte) 5);
        MemorySegment used = range.commit(2 * PART, PART);
        whileUsed(used, () -> assertThrows(IllegalStateException.class, range::close));
        RpmaException refused = assertThrows(RpmaException.class, () -> range.commit(0, PART));
        assertEquals(RpmaError.INVALID, refused.error());
        range.decommit(0, PART);
        assertEquals(0, range.commit(0, PART).get(JAVA_BYTE, 0));
        range.close();
    }

    /** Runs an action while a function of the C library, which has called back, uses memory through its segment. */
    private static void whileUsed(MemorySegment memory, Runnable run) throws Throwable {
        action = run;
        FunctionDescriptor comparator = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment callback = Linker.nativeLinker().upcallStub(MethodHandles.lookup().findStatic(
                AnonymousRangeTest.class, "compare", comparator.toMethodType()), comparator, arena);
            Posix.downcall("qsort", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS))
                .invokeExact(memory, 2L, 8L, callback);
        }
        assertNull(action, "the function has not called back");
        if (failure != null) {
            throw failure;
        }
    }

    // An exception must not leave an upcall.
    private static int compare(long first, long second) {
        Runnable run = action;
        action = null;
        try {
            if (run != null) {
                run.run();
            }
        } catch (Throwable e) {
            failure = e;
        }
        return 0;
    }
}
