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
package io.rpma;

import io.rpma.posix.DescriptorWait;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.shared.EventPipe;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the first wait of a process that has no descriptors left. It fails, and later ones do not. */
@Timeout(120)
class FirstWaitTest {
    /** The process that waits. */
    static final class Child {
        private static final Duration SHORT = Duration.ofMillis(20);

        private Child() {
        }

        public static void main(String[] arguments) throws Exception {
            // Load classes in advance, because loading a class needs a descriptor.
            for (Class<?> one : List.of(EventWait.class, RpmaException.class, RpmaError.class, DescriptorWait.class,
                    DescriptorWait.Look.class, Class.forName("io.rpma.posix.Epoll"))) {
                Class.forName(one.getName());
            }
            Posix.strerror(Sockets.EMFILE);
            EventPipe pipe = EventPipe.create();
            Deque<Integer> taken = new ArrayDeque<>();
            for (int fd = Posix.duplicate(0); fd >= 0; fd = Posix.duplicate(0)) {
                taken.push(fd);
            }
            String answer = first(pipe) + first(pipe);
            taken.forEach(Posix::close);
            int[] looks = {0};
            // The event arrives when the descriptor is watched, so that only the watching thread can report it.
            answer += EventWait.forIt(pipe.fd(), Duration.ofSeconds(60), () -> {
                boolean found = pipe.read() > 0;
                if (++looks[0] == 2) {
                    pipe.signal();
                }
                return found ? "woken" : null;
            });
            System.out.println(answer);
            System.exit(0);
        }

        private static String first(EventPipe pipe) throws InterruptedException {
            try {
                return "not refused: " + EventWait.forIt(pipe.fd(), SHORT, () -> null);
            } catch (RpmaException e) {
                return e.error() + " " + e.errno() + ", ";
            } catch (LinkageError e) {
                return e + ", ";
            }
        }
    }

    @Test
    void aShortageOfDescriptorsFailsTheFirstWaitOnly() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process child = new ProcessBuilder("sh", "-c", "ulimit -n 256; exec \"$@\"", "sh", java,
            "--enable-native-access=ALL-UNNAMED", "-Xmx64m", "-XX:+UseSerialGC", "-cp", classPath, Child.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals("PROVIDER 24, PROVIDER 24, woken", child.inputReader().readLine());
            assertTrue(child.waitFor(30, TimeUnit.SECONDS));
        } finally {
            child.destroyForcibly();
        }
    }
}
