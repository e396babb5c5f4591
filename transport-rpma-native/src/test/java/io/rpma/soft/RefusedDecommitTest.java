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

import io.rpma.AddressRange;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.posix.CFunction;
import io.rpma.posix.Posix;
import io.rpma.soft.shared.Range;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a range whose memory the system does not release. */
@Timeout(120)
class RefusedDecommitTest {
    private static final long PART = 1 << 20;

    /** The process whose address space is limited to less than it has, so that it cannot map anything. */
    static final class Child {
        private static final int RLIMIT_AS = 9;
        private static final long UNLIMITED = -1;
        private static final CFunction SETRLIMIT = CFunction.of("setrlimit", 2);

        private Child() {
        }

        public static void main(String[] arguments) throws Exception {
            AddressRange range = Rpma.provider().reserve(4 * PART);
            range.commit(PART, PART).fill((byte) 5);
            // Run what follows once: the JVM cannot load classes while nothing can be mapped.
            limit(UNLIMITED);
            assertThrows(RpmaException.class, () -> Range.create(1, PART).decommit(0, 0));
            String answer = decommit(range, 0);
            limit(Posix.PAGE_SIZE);
            String refused = decommit(range, PART);
            limit(UNLIMITED);
            answer += ", " + refused;
            try {
                range.commit(PART, PART);
                answer += ", committed twice";
            } catch (RpmaException e) {
                answer += ", still committed: " + e.error();
            }
            answer += ", " + decommit(range, PART) + ", zero: " + range.commit(PART, PART).get(JAVA_BYTE, 0);
            range.close();
            System.out.println(answer);
            System.exit(0);
        }

        private static String decommit(AddressRange range, long offset) {
            try {
                range.decommit(offset, PART);
                return "decommitted";
            } catch (RpmaException e) {
                return String.valueOf(e.error());
            }
        }

        private static void limit(long bytes) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment limits = arena.allocate(16, 8);
                limits.set(JAVA_LONG, 0, bytes);
                limits.set(JAVA_LONG, 8, UNLIMITED);
                int result = SETRLIMIT.call(RLIMIT_AS, limits.address());
                if (result != 0) {
                    throw new AssertionError("setrlimit: " + Posix.strerror(-result));
                }
            }
        }
    }

    /** The memory then stays committed, and can be decommitted later. */
    @Test
    void memoryThatIsNotReleasedStaysCommitted() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process child = new ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED", "-Xint", "-Xms64m",
            "-Xmx64m", "-XX:+UseSerialGC", "-Dio.rpma.provider=soft", "-cp", classPath, Child.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals("INVALID, NO_MEMORY, still committed: INVALID, decommitted, zero: 0",
                child.inputReader().readLine());
            assertTrue(child.waitFor(30, TimeUnit.SECONDS));
        } finally {
            child.destroyForcibly();
        }
    }
}
