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

package io.rpma.chaos;

import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Measures the pauses of the machine itself in a process that does nothing else. On each processor, a thread repeatedly sleeps
 * for a millisecond. If it wakes up much later than that, it prints {@code gap PROCESSOR FROM TO}, in nanoseconds.
 */
final class HiccupMain {
    private static final long NAP_NANOS = 1_000_000;
    private static final long WORTH_TELLING_NANOS = 1_000_000;
    private static final MethodHandle SET_AFFINITY = Posix.downcall("sched_setaffinity",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS));

    private HiccupMain() {
    }

    /** Measures until the standard input ends. */
    public static void main(String[] arguments) throws Exception {
        // If this process may use only some of the machine's processors, their numbers may not be consecutive.
        int left = Runtime.getRuntime().availableProcessors();
        List<CountDownLatch> began = new ArrayList<>();
        for (int processor = 0; processor < 1024 && left > 0; processor++) {
            if (bind(processor)) {
                int number = processor;
                CountDownLatch measures = new CountDownLatch(1);
                left--;
                began.add(measures);
                Thread.ofPlatform().daemon().name("processor " + number).start(() -> measure(number, measures));
            }
        }
        for (CountDownLatch measures : began) {
            measures.await();
        }
        System.out.println("ready");
        System.in.transferTo(java.io.OutputStream.nullOutputStream());
        System.exit(0);
    }

    private static boolean bind(int processor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(128, 8);
            set.set(JAVA_LONG, processor / 64 * 8L, 1L << processor % 64);
            return (int) SET_AFFINITY.invokeExact(0, 128L, set) == 0;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    private static void measure(int processor, CountDownLatch began) {
        bind(processor);
        long before = System.nanoTime();
        began.countDown();
        for (;;) {
            LockSupport.parkNanos(NAP_NANOS);
            long now = System.nanoTime();
            if (now - before > NAP_NANOS + WORTH_TELLING_NANOS) {
                System.out.println("gap " + processor + ' ' + (before + NAP_NANOS) + ' ' + now);
            }
            // The time is not read again, because this thread may have been paused since it was read.
            before = now;
        }
    }
}
