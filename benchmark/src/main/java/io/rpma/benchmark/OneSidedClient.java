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

import io.netty.channel.EventLoopGroup;
import io.rpma.netty.RpmaEventLoopGroup;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Measures all operations with all sizes, one after the other, and verifies the data that they have read or written. */
final class OneSidedClient implements AutoCloseable {
    private final EventLoopGroup group = new RpmaEventLoopGroup(1);
    private final List<OneSidedKind> kinds;
    private final Timing timing;
    private final ProcessTimes processes;
    private long seed;

    OneSidedClient(List<OneSidedKind> kinds, Timing timing, ProcessTimes processes) {
        this.kinds = kinds;
        this.timing = timing;
        this.processes = processes;
    }

    /**
     * Runs the code of all operations until it is compiled, so that the first measured operations are not slower than the others.
     */
    void warmUp(int port, OneSidedSize size) throws Exception {
        measure(port, size, new Timing(timing.warmUpNanos(), 1), figure -> { });
    }

    /** Measures all operations with one size over one connection. */
    void measure(int port, OneSidedSize size, Consumer<OneSidedFigure> told) throws Exception {
        measure(port, size, timing, told);
    }

    private void measure(int port, OneSidedSize size, Timing times, Consumer<OneSidedFigure> told) throws Exception {
        try (OneSidedConnection connection = new OneSidedConnection(group,
                new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), size)) {
            for (OneSidedKind kind : kinds) {
                if (kind.moves(size.bytes())) {
                    told.accept(measure(connection, kind, 1, times));
                    if (kind.hasRate() && size.depth() > 1) {
                        told.accept(measure(connection, kind, size.depth(), times));
                    }
                }
            }
        }
    }

    private OneSidedFigure measure(OneSidedConnection connection, OneSidedKind kind, int depth, Timing times)
            throws Exception {
        int bytes = connection.size().bytes();
        MemorySegment memory = connection.local().memory().asSlice(0, (long) bytes * depth);
        // Both sides are filled with new content, so that data of an earlier run cannot pass the checks.
        long there = ++seed;
        connection.ask(OneSidedOrder.Task.FILL, bytes * depth, there);
        Pattern.fill(memory, ++seed);
        OneSidedRun run = new OneSidedRun(connection, kind, depth, times, processes);
        boolean isToldOf = kind.takesReceive() || kind == OneSidedKind.ECHO;
        if (isToldOf) {
            connection.ask(kind == OneSidedKind.ECHO ? OneSidedOrder.Task.ECHO : OneSidedOrder.Task.COUNT, bytes, 0);
        }
        try {
            OneSidedFigure figure = run.measure();
            if (isToldOf) {
                OneSidedConnection.Answer answer = connection.ask(connection.channel().alloc().directBuffer(bytes)
                    .writeZero(bytes).setLong(0, OneSidedOrder.END));
                check(answer.count() == run.count(), kind, bytes, "the server has seen " + answer.count() + " of " + run.count());
                check(kind != OneSidedKind.MESSAGE || answer.sum() == run.lastSum(), kind, bytes,
                    "the last message has arrived with other content");
            }
            if (kind.writes()) {
                // The whole memory is compared, including the initial content where not all of it was overwritten.
                check(connection.ask(OneSidedOrder.Task.SUM, bytes * depth, 0).sum() == Pattern.checksum(memory), kind, bytes,
                    "the server's memory does not have what was written");
            } else if (kind == OneSidedKind.READ) {
                long difference = Pattern.firstDifference(memory, there);
                check(difference < 0, kind, bytes, "what was read differs from the server's memory at offset " + difference);
            }
            return figure;
        } finally {
            run.release();
        }
    }

    private static void check(boolean isRight, OneSidedKind kind, int bytes, String otherwise) throws IOException {
        if (!isRight) {
            throw new IOException(kind.key() + " of " + bytes + " bytes: " + otherwise);
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
