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
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.posix.Sockets;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures connecting between two processes, each with one thread that waits by epoll: {@code java -cp <class path>
 * io.rpma.soft.ConnectBenchmark [rate CONCURRENT SECONDS | open COUNT]}. {@code rate} repeatedly connects, accepts, establishes,
 * disconnects and closes, with the given number of connections at a time. {@code open} keeps the given number of connections
 * open, and prints what each of them costs both ends together.
 */
public final class ConnectBenchmark {
    private static final int RECEIVES = 20;
    private static final long RANGE = 4L << 20;
    private static final int SLABS = Integer.getInteger("slabs", 4);

    private final RpmaProvider provider = SoftProvider.instance();
    private final Peer peer;
    private final LocalMemoryRegion region;
    private final ConnectionConfig config;
    private final int epoll = Sockets.epollCreate();
    private final Map<Integer, Connection> connections = new HashMap<>();

    private ConnectBenchmark() throws RpmaException {
        peer = provider.devices().getFirst().newPeer();
        AddressRange range = provider.reserve(SLABS * RANGE);
        for (int i = 1; i < SLABS; i++) {
            peer.register(range.commit(i * RANGE, RANGE), Station.ALL);
        }
        region = peer.register(range.commit(0, RANGE), Station.ALL);
        config = provider.newConnectionConfig().sendQueueSize(64).receiveQueueSize(RECEIVES).completionQueueSize(100);
    }

    /** Runs a client and starts a server in a separate process, or runs as that server. */
    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            new ConnectBenchmark().serve(args[1].equals("rate"));
            return;
        }
        List<String> options = System.getProperty("server.options", "").isEmpty() ? List.of()
            : List.of(System.getProperty("server.options").split(" "));
        Process server = ChildProcess.start(options, ConnectBenchmark.class, "server", args[0]);
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(server.getInputStream()))) {
            int port = Integer.parseInt(lines.readLine());
            ConnectBenchmark client = new ConnectBenchmark();
            if (args[0].equals("rate")) {
                client.rate(port, Integer.parseInt(args[1]), Integer.parseInt(args[2]), server.pid());
            } else {
                client.open(port, Integer.parseInt(args[1]), server.pid());
            }
        } finally {
            server.destroyForcibly();
        }
    }

    private void post(ConnectionRequest request) throws RpmaException {
        for (int i = 0; i < RECEIVES; i++) {
            request.receive(region, i * 64L, 64, i);
        }
    }

    private void watch(Connection connection) {
        connections.put(connection.eventFd(), connection);
        Sockets.epollAdd(epoll, connection.eventFd());
        if (Boolean.getBoolean("watch.completions")) {
            Sockets.epollAdd(epoll, ((SoftCompletionQueue) connection.completionQueue()).fd());
        }
    }

    private int next() {
        int fd = Sockets.epollNext(epoll);
        while (fd < 0) {
            Sockets.poll(epoll, (short) Sockets.EPOLLIN, -1);
            fd = Sockets.epollNext(epoll);
        }
        return fd;
    }

    private void serve(boolean close) throws RpmaException {
        Endpoint endpoint = peer.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        System.out.println(endpoint.localAddress().getPort());
        Sockets.epollAdd(epoll, endpoint.fd());
        while (true) {
            int fd = next();
            if (fd == endpoint.fd()) {
                ConnectionRequest request = endpoint.nextConnectionRequest(config);
                while (request != null) {
                    post(request);
                    watch(request.connect(null));
                    request = endpoint.nextConnectionRequest(config);
                }
            } else {
                Connection connection = connections.get(fd);
                ConnectionEvent event = connection.nextEvent();
                if (event == ConnectionEvent.ESTABLISHED && close) {
                    connection.disconnect();
                } else if (event == ConnectionEvent.CLOSED) {
                    connections.remove(fd);
                    connection.close();
                }
            }
        }
    }

    private void connect(int port) throws RpmaException {
        ConnectionRequest request =
            peer.newConnectionRequest(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), config);
        post(request);
        watch(request.connect(null));
    }

    private static long cpuNanos(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10_000_000;
    }

    private void rate(int port, int concurrent, int seconds, long server) throws Exception {
        for (int i = 0; i < concurrent; i++) {
            connect(port);
        }
        long own = ProcessHandle.current().pid();
        long start = System.nanoTime();
        long cpu = cpuNanos(own);
        long serverCpu = cpuNanos(server);
        long done = 0;
        int second = 0;
        while (second < seconds) {
            int fd = next();
            Connection connection = connections.get(fd);
            ConnectionEvent event = connection.nextEvent();
            if (event == ConnectionEvent.CLOSED) {
                connections.remove(fd);
                connection.disconnect();
                connection.close();
                connect(port);
                done++;
                long now = System.nanoTime();
                if (now - start >= 1_000_000_000L) {
                    long cpuNow = cpuNanos(own);
                    long serverNow = cpuNanos(server);
                    System.out.printf("%d connections/s, CPU per connection: client %d us, server %d us%n",
                        done * 1_000_000_000L / (now - start), (cpuNow - cpu) / done / 1000,
                        (serverNow - serverCpu) / done / 1000);
                    start = now;
                    cpu = cpuNow;
                    serverCpu = serverNow;
                    done = 0;
                    second++;
                }
            }
        }
    }

    private static long residentKiB(long pid) throws IOException {
        long sum = 0;
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
            if (line.startsWith("RssAnon:") || line.startsWith("RssShmem:")) {
                sum += Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return sum;
    }

    private static long shmemKiB() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith("Shmem:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return 0;
    }

    private static int descriptors(long pid) {
        return new java.io.File("/proc/" + pid + "/fd").list().length;
    }

    private void open(int port, int count, long server) throws Exception {
        long own = ProcessHandle.current().pid();
        int established = 0;
        for (int i = 0; i < 10; i++) {
            connect(port);
        }
        long[] before = null;
        int counted = 0;
        while (established < count) {
            ConnectionEvent event = connections.get(next()).nextEvent();
            if (event == ConnectionEvent.ESTABLISHED) {
                established++;
                if (established == 10) {
                    before = snapshot(own, server);
                    counted = established;
                }
                if (established >= 10 && connections.size() < count) {
                    connect(port);
                }
            } else if (event != null) {
                throw new IllegalStateException("" + event);
            }
        }
        long[] after = snapshot(own, server);
        int n = established - counted;
        System.out.printf("%d open: per connection, both ends: Java heap of the client %.1f KiB, resident %.1f + %.1f KiB,"
            + " shared memory files %.1f KiB; descriptors %.2f + %.2f; mappings %.2f%n", established,
            (after[0] - before[0]) / 1024.0 / n, (after[1] - before[1]) / (double) n, (after[2] - before[2]) / (double) n,
            (after[3] - before[3]) / (double) n, (after[4] - before[4]) / (double) n, (after[5] - before[5]) / (double) n,
            (after[6] - before[6]) / (double) n);
        long start = System.nanoTime();
        for (Connection connection : new ArrayList<>(connections.values())) {
            connection.close();
        }
        System.out.printf("closed within %d ms%n", (System.nanoTime() - start) / 1_000_000);
    }

    private static long[] snapshot(long own, long server) throws IOException {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new long[] {heap, residentKiB(own), residentKiB(server), shmemKiB(), descriptors(own), descriptors(server),
            Files.readAllLines(Path.of("/proc/self/maps")).size()};
    }
}
