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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Measures what the provider's data path costs without Netty. One thread has both ends of a connection, so that no wake-up and no
 * other processor is involved. {@code ./run-benchmark.sh provider} runs it, and accepts the options of JMH.
 */
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class ProviderCosts {
    private static final int BATCH = 16;
    private static final MethodHandle ABS =
        Posix.downcall("abs", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle ABS_CRITICAL =
        Posix.downcall("abs", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), Linker.Option.critical(false));
    private static final MethodHandle GETPPID = Posix.downcall("getppid", FunctionDescriptor.of(ValueLayout.JAVA_INT));

    /** Two connected ends. */
    @State(Scope.Thread)
    public static class Ends {
        final WorkCompletions completions = new WorkCompletions(BATCH);
        ProviderPair pair;

        @Setup
        public void connect() throws RpmaException {
            pair = new ProviderPair(BATCH);
        }

        @TearDown
        public void close() throws RpmaException {
            pair.close();
        }

        /** Polls until the given number of completions has arrived, and checks that they report success. */
        final void await(CompletionQueue queue, int count) throws RpmaException {
            for (int taken = 0; taken < count;) {
                int n = queue.poll(completions);
                for (int i = 0; i < n; i++) {
                    if (completions.statusCode(i) != 0) {
                        throw new IllegalStateException("a work request failed: " + completions.completion(i));
                    }
                }
                taken += n;
            }
        }
    }

    /** The size of the transferred data. */
    @State(Scope.Thread)
    public static class Size {
        @Param({"64", "4096", "65536"})
        public int bytes;
    }

    /**
     * Runs the benchmarks.
     *
     * @param arguments the options of JMH; {@code -h} lists them
     */
    public static void main(String[] arguments) throws Exception {
        CommandLineOptions given = new CommandLineOptions(arguments);
        if (given.shouldHelp()) {
            given.showHelp();
            return;
        }
        String provider = System.getProperty(Rpma.PROVIDER_PROPERTY, "soft");
        ChainedOptionsBuilder options =
            new OptionsBuilder().parent(given).jvmArgsPrepend("-D" + Rpma.PROVIDER_PROPERTY + "=" + provider);
        if (given.getIncludes().isEmpty()) {
            options.include(ProviderCosts.class.getName());
        }
        new Runner(options.build()).run();
    }

    /** Calls a function of the C library that does almost nothing. */
    @Benchmark
    public int downcall() throws Throwable {
        return (int) ABS.invokeExact(-1);
    }

    /** Calls the function of {@link #downcall} without a transition of the thread to native state in the JVM. */
    @Benchmark
    public int downcallCritical() throws Throwable {
        return (int) ABS_CRITICAL.invokeExact(-1);
    }

    /** Makes a system call that does almost nothing. */
    @Benchmark
    public int systemCall() throws Throwable {
        return (int) GETPPID.invokeExact();
    }

    /** Polls an empty completion queue. */
    @Benchmark
    public int pollEmpty(Ends ends) throws RpmaException {
        return ends.pair.client().completionQueue().poll(ends.completions);
    }

    /** Arms a completion queue that is already armed, and polls it, as an event loop does before it blocks. */
    @Benchmark
    public int armAndPollEmpty(Ends ends) throws RpmaException {
        CompletionQueue queue = ends.pair.client().completionQueue();
        queue.consumeEvent();
        return queue.poll(ends.completions);
    }

    /** Posts a receive and a send, and consumes both completions. */
    @Benchmark
    public void message(Ends ends, Size size) throws RpmaException {
        ProviderPair pair = ends.pair;
        pair.server().receive(pair.serverMemory(), 0, size.bytes, 1);
        pair.client().send(pair.clientMemory(), 0, size.bytes, CompletionFlag.ALWAYS, 2);
        ends.await(pair.server().completionQueue(), 1);
        ends.await(pair.client().completionQueue(), 1);
    }

    /** Transfers many messages, of which only the last send is signalled. The result is the time of one message. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void messages(Ends ends, Size size) throws RpmaException {
        ProviderPair pair = ends.pair;
        for (int i = 0; i < BATCH; i++) {
            pair.server().receive(pair.serverMemory(), 0, size.bytes, 1);
        }
        for (int i = 1; i < BATCH; i++) {
            pair.client().send(pair.clientMemory(), 0, size.bytes, CompletionFlag.ON_ERROR, 2);
        }
        pair.client().send(pair.clientMemory(), 0, size.bytes, CompletionFlag.ALWAYS, 3);
        ends.await(pair.server().completionQueue(), BATCH);
        ends.await(pair.client().completionQueue(), 1);
    }

    /** Writes to the other end's memory, and consumes the completion. */
    @Benchmark
    public void write(Ends ends, Size size) throws RpmaException {
        ProviderPair pair = ends.pair;
        pair.client().write(pair.atServer(), 0, pair.clientMemory(), 0, size.bytes, CompletionFlag.ALWAYS, 1);
        ends.await(pair.client().completionQueue(), 1);
    }

    /** Reads from the other end's memory, and consumes the completion. */
    @Benchmark
    public void read(Ends ends, Size size) throws RpmaException {
        ProviderPair pair = ends.pair;
        pair.client().read(pair.clientMemory(), 0, pair.atServer(), 0, size.bytes, CompletionFlag.ALWAYS, 1);
        ends.await(pair.client().completionQueue(), 1);
    }

    /** Makes a connection, with one thread at both ends, and closes it. */
    @Benchmark
    public void connectAndClose(Ends ends) throws RpmaException {
        ends.pair.connectAndClose();
    }
}
