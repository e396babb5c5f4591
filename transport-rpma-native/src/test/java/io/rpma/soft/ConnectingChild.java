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

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SoftLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A process that connects, accepts and runs out of descriptors when it is ordered to. It listens, and prints its port. Then it
 * answers each order with one line: {@code exhaust} takes all descriptors, {@code free} releases one of them, and {@code release}
 * releases all of them; {@code next} polls for the next connection request, {@code take} waits for it, and {@code accept} accepts
 * it; {@code edge} waits as an event loop does that is notified of the listener edge-triggered; {@code connect PORT} requests a
 * connection, {@code event} polls for its next event, and {@code await} waits for that. {@code take} and {@code connect PORT} may
 * be followed by the size of the receive queue. {@code reserve BYTES} registers memory in an address range of that size;
 * {@code send}, {@code read DESCRIPTOR} and {@code write DESCRIPTOR} post a work request, {@code poll} polls for its completion,
 * and {@code completion} waits for that.
 */
final class ConnectingChild {
    private static final long LIMIT = 512;
    private static final int EDGE_MILLIS = 30_000;
    private static final MethodHandle SETRLIMIT = Posix.downcallErrno("setrlimit",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

    private final Deque<Integer> taken = new ArrayDeque<>();
    private final Station station = new Station();
    private final Endpoint endpoint = station.listen();
    private final EdgeTriggered loop = new EdgeTriggered(endpoint.fd());
    private final WorkCompletions batch = new WorkCompletions(1);
    private ConnectionRequest request;
    private Connection connection;

    private ConnectingChild() throws RpmaException {
    }

    /** Executes orders until there are no more. */
    public static void main(String[] arguments) throws Exception {
        limit();
        loadClasses();
        ConnectingChild child = new ConnectingChild();
        child.connectToItself();
        say(String.valueOf(child.endpoint.localAddress().getPort()));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        String order = orders.readLine();
        while (order != null) {
            String answer;
            try {
                answer = child.carryOut(order);
            } catch (RpmaException e) {
                answer = "errno " + e.errno() + ' ' + e.getMessage();
            }
            say(answer);
            order = orders.readLine();
        }
        System.exit(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void limit() {
        MemorySegment capture = Posix.capture();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limits = arena.allocate(16, 8);
            limits.set(JAVA_LONG, 0, LIMIT);
            limits.set(JAVA_LONG, 8, LIMIT);
            int result = (int) SETRLIMIT.invokeExact(capture, Posix.RLIMIT_NOFILE, limits.address());
            if (result != 0) {
                throw new AssertionError("setrlimit: " + Posix.strerror(Posix.errno(capture)));
            }
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }

    /** Loads classes in advance, because loading a class needs a descriptor. */
    private static void loadClasses() throws IOException, ReflectiveOperationException {
        for (Class<?> one : List.of(OpenFiles.class, ConnectingChild.class)) {
            Path root = Path.of(one.getProtectionDomain().getCodeSource().getLocation().getPath());
            if (Files.isDirectory(root)) {
                List<String> names;
                try (Stream<Path> files = Files.walk(root.resolve("io/rpma/soft"))) {
                    names = files.map(file -> root.relativize(file).toString()).filter(name -> name.endsWith(".class"))
                        .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).toList();
                }
                for (String name : names) {
                    String simple = name.substring(name.lastIndexOf('.') + 1);
                    if (one == OpenFiles.class || simple.matches("(ConnectingChild|EdgeTriggered|Station).*")) {
                        Class.forName(name);
                    }
                }
            }
        }
        SoftLog.warn(OpenFiles.failure(Sockets.EMFILE, "this is no failure").getMessage());
    }

    private void connectToItself() throws RpmaException {
        try (Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null);
                Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
            // This loads the classes that a work request needs.
            client.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
            assertPending(client);
            accepted.receive(station.region, 0, 8, 2);
            Station.expect(client.completionQueue(), 1, 0);
            Station.expect(accepted.completionQueue(), 2, 0);
            client.read(station.region, 0, station.describe(station.region), 8, 8, CompletionFlag.ALWAYS, 3);
            Station.expect(client.completionQueue(), 3, 0);
        }
    }

    private void assertPending(Connection one) throws RpmaException {
        if (one.completionQueue().poll(batch) != 0) {
            throw new AssertionError("a message without a receive was sent");
        }
    }

    private ConnectionConfig config(String[] words, int index) throws RpmaException {
        return words.length <= index ? null
            : station.provider.newConnectionConfig().receiveQueueSize(Integer.parseInt(words[index]));
    }

    private RemoteMemoryRegion remote(String hex) throws RpmaException {
        return station.provider.openRemoteRegion(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
    }

    private String carryOut(String order) throws RpmaException {
        String[] words = order.split(" ");
        switch (words[0]) {
            case "exhaust":
                int fd = Posix.duplicate(0);
                while (fd >= 0) {
                    taken.push(fd);
                    fd = Posix.duplicate(0);
                }
                return "exhausted";
            case "free":
                Posix.close(taken.pop());
                return "freed";
            case "release":
                taken.forEach(Posix::close);
                taken.clear();
                return "released";
            case "edge":
                return loop.await(EDGE_MILLIS) ? "edge" : "no edge";
            case "next":
                request = endpoint.nextConnectionRequest(null);
                return request == null ? "none" : "request";
            case "take":
                request = Station.awaitRequest(endpoint, config(words, 1));
                return "request";
            case "accept":
                connection = request.connect(null);
                return "accepted";
            case "connect":
                connection = station.peer.newConnectionRequest(new InetSocketAddress(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(words[1])), config(words, 2)).connect(null);
                return "requested";
            case "event":
                return String.valueOf(connection.nextEvent());
            case "await":
                return String.valueOf(Station.awaitEvent(connection));
            case "reserve":
                station.peer.register(station.provider.reserve(Long.parseLong(words[1])).commit(0, Posix.PAGE_SIZE), Station.ALL);
                return "reserved";
            case "send":
                connection.send(station.region, 0, 8, CompletionFlag.ALWAYS, 1);
                return "posted";
            case "read":
                connection.read(station.region, 0, remote(words[1]), 0, 8, CompletionFlag.ALWAYS, 1);
                return "posted";
            case "write":
                connection.writeWithImmediate(remote(words[1]), 0, station.region, 0, 8, CompletionFlag.ALWAYS, 2, 1);
                return "posted";
            case "poll":
                return connection.completionQueue().poll(batch) == 0 ? "none" : batch.status(0).name();
            case "completion":
                Station.await(connection.completionQueue(), batch, Station.Waiting.BLOCKING);
                return batch.status(0).name();
            default:
                throw new IllegalArgumentException(order);
        }
    }
}
