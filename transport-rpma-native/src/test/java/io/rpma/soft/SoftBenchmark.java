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
import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Measures two processes: {@code java -cp <class path> io.rpma.soft.SoftBenchmark}. It measures round trips of 64 bytes with both
 * ends spinning on {@code poll()}, and one-way messages of several sizes, compared with copying memory of the same size.
 */
public final class SoftBenchmark {
    private static final int SMALL = 64;
    private static final int LARGE = 1 << 20;
    private static final int RECEIVES = 16;
    private static final int WARM_UP = 200_000;
    private static final int ROUNDS = 1_000_000;
    private static final long RANGE = 64L << 20;

    private final Connection connection;
    private final LocalMemoryRegion region;
    private final MemorySegment memory;
    private final WorkCompletions completions = new WorkCompletions(16);

    private SoftBenchmark(Connection connection, LocalMemoryRegion region) {
        this.connection = connection;
        this.region = region;
        this.memory = region.memory();
    }

    /** Runs a client and starts a server in a separate process, or runs as that server. */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("server")) {
            serve();
        } else {
            Process server = ChildProcess.start(SoftBenchmark.class, "server");
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(server.getInputStream()))) {
                run(Integer.parseInt(lines.readLine()));
            } finally {
                server.destroyForcibly();
            }
        }
    }

    private static ConnectionConfig config(RpmaProvider provider) throws RpmaException {
        return provider.newConnectionConfig().sendQueueSize(64).receiveQueueSize(RECEIVES).completionQueueSize(128);
    }

    private static LocalMemoryRegion register(RpmaProvider provider, Peer peer) throws RpmaException {
        AddressRange range = provider.reserve(RANGE);
        return peer.register(range.commit(0, RANGE), Station.ALL);
    }

    private static void serve() throws RpmaException {
        RpmaProvider provider = SoftProvider.instance();
        Peer peer = provider.devices().getFirst().newPeer();
        LocalMemoryRegion region = register(provider, peer);
        Endpoint endpoint = peer.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        System.out.println(endpoint.localAddress().getPort());
        while (true) {
            ConnectionRequest request = Station.awaitRequest(endpoint, config(provider));
            int size = request.privateData().order(java.nio.ByteOrder.nativeOrder()).getInt();
            for (int i = 0; i < RECEIVES; i++) {
                request.receive(region, (long) i * size, size, i);
            }
            try (Connection connection = request.connect(null)) {
                if (Station.awaitEvent(connection) == ConnectionEvent.ESTABLISHED) {
                    SoftBenchmark end = new SoftBenchmark(connection, region);
                    if (size == SMALL) {
                        end.echo();
                    } else {
                        end.drain(size);
                    }
                }
            }
        }
    }

    private void echo() throws RpmaException {
        CompletionQueue queue = connection.completionQueue();
        long sent = 0;
        int idle = 0;
        while (true) {
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                long context = completions.context(i);
                if (context >= 0) {
                    connection.send(region, context * SMALL, SMALL,
                        ++sent % 16 == 0 ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, -1);
                    connection.receive(region, context * SMALL, SMALL, context);
                }
            }
            idle = count > 0 ? 0 : idle + 1;
            if (idle > 10_000) {
                idle = 0;
                if (connection.nextEvent() != null) {
                    return;
                }
            }
            Thread.onSpinWait();
        }
    }

    private void drain(int size) throws RpmaException {
        CompletionQueue queue = connection.completionQueue();
        long sum = 0;
        int idle = 0;
        while (true) {
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                long context = completions.context(i);
                if (completions.immediate(i) == 1) {
                    // The last message of a round is answered with an empty message.
                    connection.receive(region, context * size, size, context);
                    connection.send(null, 0, 0, CompletionFlag.ON_ERROR, -1);
                } else if (context >= 0) {
                    sum += memory.get(JAVA_LONG, context * size);
                    connection.receive(region, context * size, size, context);
                }
            }
            idle = count > 0 ? 0 : idle + 1;
            if (idle > 10_000) {
                idle = 0;
                if (connection.nextEvent() != null) {
                    memory.set(JAVA_LONG, 0, sum);
                    return;
                }
            }
            Thread.onSpinWait();
        }
    }

    private static void run(int port) throws Exception {
        RpmaProvider provider = SoftProvider.instance();
        Peer peer = provider.devices().getFirst().newPeer();
        LocalMemoryRegion region = register(provider, peer);
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        SoftBenchmark small = connect(provider, peer, address, region, SMALL);
        small.pingPong(WARM_UP);
        for (int i = 0; i < 3; i++) {
            small.pingPong(ROUNDS);
        }
        small.connection.close();
        for (int size : new int[] {1 << 10, 1 << 16, LARGE}) {
            SoftBenchmark large = connect(provider, peer, address, region, size);
            large.stream(size, Math.min(200_000, (int) ((1L << 30) / size)));
            double best = 0;
            for (int i = 0; i < 3; i++) {
                best = Math.max(best, large.stream(size, Math.min(1_000_000, (int) ((4L << 30) / size))));
            }
            System.out.printf("one way %7d B: %6.2f GB/s (memcpy of as much: %6.2f GB/s)%n", size, best, copy(region, size));
            large.connection.close();
        }
    }

    private static SoftBenchmark connect(RpmaProvider provider, Peer peer, InetSocketAddress address,
            LocalMemoryRegion region, int size) throws RpmaException {
        ConnectionRequest request = peer.newConnectionRequest(address, config(provider));
        for (int i = 0; i < RECEIVES; i++) {
            request.receive(region, (long) i * SMALL, SMALL, i);
        }
        java.nio.ByteBuffer data = java.nio.ByteBuffer.allocate(4).order(java.nio.ByteOrder.nativeOrder()).putInt(size).flip();
        Connection connection = request.connect(data);
        if (Station.awaitEvent(connection) != ConnectionEvent.ESTABLISHED) {
            throw new IllegalStateException("not established");
        }
        return new SoftBenchmark(connection, region);
    }

    private void pingPong(int rounds) throws RpmaException {
        long[] times = new long[rounds];
        CompletionQueue queue = connection.completionQueue();
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            connection.send(region, 4096, SMALL, i % 16 == 0 ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, -1);
            boolean answered = false;
            while (!answered) {
                int count = queue.poll(completions);
                for (int k = 0; k < count; k++) {
                    long context = completions.context(k);
                    if (context >= 0) {
                        answered = true;
                        connection.receive(region, context * SMALL, SMALL, context);
                    }
                }
                if (count == 0) {
                    Thread.onSpinWait();
                }
            }
            times[i] = System.nanoTime() - start;
        }
        Arrays.sort(times);
        System.out.printf("round trip %d B: p50 %d ns, p90 %d ns, p99 %d ns, p99.9 %d ns, max %d us%n", SMALL,
            times[rounds / 2], times[(int) (rounds * 0.9)], times[(int) (rounds * 0.99)], times[(int) (rounds * 0.999)],
            times[rounds - 1] / 1000);
    }

    private double stream(int size, int messages) throws RpmaException {
        CompletionQueue queue = connection.completionQueue();
        int slots = (int) Math.min(16, (RANGE / 2) / size);
        long start = System.nanoTime();
        int free = 64;
        for (int i = 1; i <= messages; i++) {
            while (free == 0) {
                int count = queue.poll(completions);
                for (int k = 0; k < count; k++) {
                    if (completions.context(k) < 0) {
                        free += 16;
                    }
                }
            }
            free--;
            connection.sendWithImmediate(region, RANGE / 2 + (long) (i % slots) * size, size,
                i % 16 == 0 ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR, i == messages ? 1 : 0, -1);
        }
        boolean answered = false;
        while (!answered) {
            int count = queue.poll(completions);
            for (int k = 0; k < count; k++) {
                long context = completions.context(k);
                if (context >= 0) {
                    answered = true;
                    connection.receive(region, context * SMALL, SMALL, context);
                }
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        // Restores the send queue, so that all slots are free.
        connection.send(null, 0, 0, CompletionFlag.ALWAYS, -1);
        while (queue.poll(completions) == 0) {
            Thread.onSpinWait();
        }
        return (double) size * messages / seconds / 1e9;
    }

    private static double copy(LocalMemoryRegion region, int size) {
        double best = 0;
        int count = (int) Math.min(1_000_000, (4L << 30) / size);
        for (int round = 0; round < 4; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < count; i++) {
                Memory.copy(region.address() + RANGE / 2 + (long) (i % 16) * size, region.address() + (long) (i % 16) * size,
                    size);
            }
            best = Math.max(best, (double) size * count / (System.nanoTime() - start));
        }
        return best;
    }
}
