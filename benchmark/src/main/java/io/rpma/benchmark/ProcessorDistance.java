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

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * Measures how long a cache line takes from one processor to another and back. Two threads, each bound to a processor
 * ({@code sched_setaffinity(2)}), answer each other by a word of memory each. With more than two processors several pairs are
 * measured. A host may move the processors of a virtual machine at any time.
 */
final class ProcessorDistance {
    /** The size in bytes of the set of processors that the kernel is passed. */
    private static final int MASK_BYTES = 1024;
    private static final int MOST_PAIRS = 12;
    private static final int BATCH = 200;
    private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long PAIR_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    /** If no batch was faster, in nanoseconds per round trip, the two threads have not run at the same time yet. */
    private static final double PLAUSIBLE_NANOS = 5_000;
    private static final long MOST_PAIR_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int LOOKS = 1 << 20;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** The distance of the two words, in words: more than a pair of cache lines. */
    private static final int APART = 32;
    private static final int CALL = APART;
    private static final int ANSWER = 2 * APART;
    private static final long END = -1;

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final MethodHandle GET_AFFINITY = affinity("sched_getaffinity");
    private static final MethodHandle SET_AFFINITY = affinity("sched_setaffinity");

    private final int[] processors;

    /** Finds the processors that this process may use. */
    ProcessorDistance() {
        BitSet usable = new BitSet();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES);
            check((int) GET_AFFINITY.invokeExact(0, (long) MASK_BYTES, mask), "sched_getaffinity");
            usable.or(BitSet.valueOf(mask.asByteBuffer()));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        processors = usable.stream().toArray();
    }

    private static MethodHandle affinity(String name) {
        MemorySegment function = Linker.nativeLinker().defaultLookup().or(SymbolLookup.loaderLookup()).find(name).orElseThrow();
        return Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    private static void check(int result, String function) {
        if (result < 0) {
            throw new IllegalStateException(function + " failed: the distance of the processors cannot be measured");
        }
    }

    /** Returns the median of the pairs, in nanoseconds there and back; 0 if there is only one processor. */
    double nanos() throws InterruptedException {
        int pairs = Math.min(MOST_PAIRS, processors.length * (processors.length - 1) / 2);
        if (pairs == 0) {
            return 0;
        }
        double[] nanos = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            // From neighbours to processors that are as far apart as possible in the kernel's order.
            int first = i % processors.length;
            int second = (first + 1 + i * (processors.length / 2) / pairs) % processors.length;
            nanos[i] = new Pair().nanos(processors[first], processors[second]);
        }
        Arrays.sort(nanos);
        return nanos[pairs / 2];
    }

    /** Binds the calling thread to a processor. */
    private static void bind(int processor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES);
            mask.set(ValueLayout.JAVA_BYTE, processor >>> 3, (byte) (1 << (processor & 7)));
            check((int) SET_AFFINITY.invokeExact(0, (long) MASK_BYTES, mask), "sched_setaffinity");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Two threads that answer each other. */
    private static final class Pair {
        private final long[] words = new long[3 * APART];
        private volatile Throwable failure;
        private double result;

        double nanos(int first, int second) throws InterruptedException {
            Thread answering = start(() -> answer(second));
            Thread calling = start(() -> call(first));
            calling.join();
            WORDS.setVolatile(words, CALL, END);
            answering.join();
            if (failure != null) {
                throw new IllegalStateException("the distance of the processors " + first + " and " + second
                    + " cannot be measured", failure);
            }
            return result;
        }

        private Thread start(Runnable work) {
            return Thread.ofPlatform().daemon().name("processor-distance").start(() -> {
                try {
                    work.run();
                } catch (Throwable e) {
                    failure = e;
                }
            });
        }

        private void answer(int processor) {
            bind(processor);
            long next = 1;
            while (true) {
                long called = (long) WORDS.getVolatile(words, CALL);
                if (called == END) {
                    return;
                }
                if (called == next) {
                    WORDS.setVolatile(words, ANSWER, next++);
                }
            }
        }

        private void call(int processor) {
            bind(processor);
            long number = 0;
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < WARM_UP_NANOS) {
                number = batch(number);
            }
            // The shortest batch, because any other one may contain a time in which one of the threads had no processor.
            result = Double.MAX_VALUE;
            begin = System.nanoTime();
            long now = begin;
            while (now - begin < PAIR_NANOS || result > PLAUSIBLE_NANOS && now - begin < MOST_PAIR_NANOS) {
                number = batch(number);
                long then = now;
                now = System.nanoTime();
                result = Math.min(result, (double) (now - then) / BATCH);
            }
        }

        private long batch(long before) {
            long number = before;
            for (int i = 0; i < BATCH; i++) {
                WORDS.setVolatile(words, CALL, ++number);
                await(number);
            }
            return number;
        }

        private void await(long number) {
            long looks = 0;
            long begin = 0;
            while ((long) WORDS.getVolatile(words, ANSWER) != number) {
                if (++looks % LOOKS == 0) {
                    long now = System.nanoTime();
                    begin = begin == 0 ? now : begin;
                    if (failure != null || now - begin > LIMIT_NANOS) {
                        throw new IllegalStateException("the other thread does not answer");
                    }
                }
            }
        }
    }
}
