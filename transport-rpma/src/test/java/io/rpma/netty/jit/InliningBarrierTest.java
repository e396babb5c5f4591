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

package io.rpma.netty.jit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.netty.ChildJvm;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the just-in-time compiler does not inline a method behind a barrier, by what it says about its decisions. */
@Timeout(120)
class InliningBarrierTest {
    @Test
    void aMethodBehindABarrierIsNotInlined() throws Exception {
        List<String> options = List.of("-XX:-TieredCompilation", "-Xbatch", "-XX:+UnlockDiagnosticVMOptions",
            "-XX:CompileCommand=quiet", "-XX:CompileCommand=PrintInlining," + Program.class.getName() + "::*");
        try (ChildJvm child = new ChildJvm(options, Program.class)) {
            String said = child.rest();
            assertTrue(said.contains("sum 3000000"), said);
            // The direct call is inlined, which shows that the compiler has compiled the caller and says what it does.
            assertTrue(isInlined("direct", said), said);
            assertFalse(isInlined("behind", said), said);
        }
    }

    private static boolean isInlined(String method, String said) {
        return Pattern.compile("Program::" + method + " \\(\\d+ bytes\\) +(force )?inline ").matcher(said).find();
    }

    /** Calls one method directly, and another one through a barrier. */
    static final class Program {
        private static final InliningBarrier BEHIND =
            new InliningBarrier(MethodHandles.lookup(), Program.class, "behind", MethodType.methodType(int.class, int.class));

        private Program() {
        }

        public static void main(String[] arguments) throws Throwable {
            Program program = new Program();
            int sum = 0;
            for (int i = 0; i < 1_000_000; i++) {
                sum += program.callBoth(i);
            }
            System.out.println("sum " + sum);
        }

        private int callBoth(int i) throws Throwable {
            return direct(i) + (int) BEHIND.method().invokeExact(this, i);
        }

        private int direct(int i) {
            return 1 + (i & 0);
        }

        private int behind(int i) {
            return 2 + (i & 0);
        }
    }
}
