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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.Peer;
import io.rpma.PreloadedClasses;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** A process that has few descriptors. It runs the scenario that its argument names, and prints what happens. */
final class ExhaustedChild {
    private static final List<String> KINDS = List.of("socket", "anon_inode:[eventpoll]", "anon_inode:[eventfd]");
    private static final Deque<Integer> TAKEN = new ArrayDeque<>();

    private ExhaustedChild() {
    }

    public static void main(String[] arguments) throws Exception {
        PreloadedClasses.load(TcpProvider.class, ExhaustedChild.class, "io\\.rpma\\.tcp\\..*");
        if ("first".equals(arguments[0])) {
            use();
        }
        try (Station station = new Station()) {
            station.serves();
            switch (arguments[0]) {
                case "accept" -> accept(station);
                case "fd" -> createDescriptors(station);
                case "first" -> { }
                default -> throw new IllegalArgumentException(arguments[0]);
            }
            release();
            station.serves();
        }
        System.out.println("done");
        System.exit(0);
    }

    /** Uses the provider for the first time when there are no descriptors, and then with one more each time until it succeeds. */
    private static void use() throws Exception {
        try (Peer peer = TcpProvider.instance().devices().getFirst().newPeer()) {
            InetSocketAddress local = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            String before = descriptors();
            exhaust();
            try {
                peer.newConnectionRequest(new InetSocketAddress(local.getAddress(), 1), null);
            } catch (RpmaException e) {
                print(e);
            }
            Endpoint endpoint = null;
            for (int free = 0; endpoint == null; free++) {
                for (int i = 0; i < free; i++) {
                    Posix.close(TAKEN.pop());
                }
                try {
                    endpoint = peer.listen(local);
                } catch (RpmaException e) {
                    print(e);
                }
                exhaust();
            }
            endpoint.close();
            release();
            System.out.println(before + " " + descriptors());
        }
    }

    /** Returns how many sockets, epoll sets and event descriptors are open. */
    private static String descriptors() throws IOException {
        int[] counts = new int[KINDS.size()];
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files) {
                int kind = KINDS.indexOf(Files.readSymbolicLink(file).toString().replaceFirst("^socket:.*", "socket"));
                if (kind >= 0) {
                    counts[kind]++;
                }
            }
        }
        return Arrays.toString(counts);
    }

    private static void exhaust() {
        int fd = Posix.duplicate(0);
        while (fd >= 0) {
            TAKEN.push(fd);
            fd = Posix.duplicate(0);
        }
    }

    private static void release() {
        TAKEN.forEach(Posix::close);
        TAKEN.clear();
    }

    private static void print(Exception e) {
        System.out.println((e instanceof RpmaException failure ? "errno " + failure.errno() : e.getClass().getSimpleName()) + ": "
            + e.getMessage());
    }

    /** Has one descriptor left, which a client uses. Prints the failure, and whether the client can be accepted afterwards. */
    private static void accept(Station station) throws Exception {
        exhaust();
        Posix.close(TAKEN.pop());
        try (Connection client = station.peer.tryNewConnectionRequest(station.address(), null).connect(null)) {
            boolean failed = false;
            while (!failed) {
                try {
                    station.endpoint.nextConnectionRequest(null);
                } catch (RpmaException e) {
                    print(e);
                    failed = true;
                }
            }
            release();
            // The adapter receives the request, which the client sends when it has been greeted.
            while (!((Acceptor) Station.field(station.endpoint, "acceptor")).hasNext()) {
                client.nextEvent();
            }
            // A request that has arrived needs no further descriptor.
            exhaust();
            ConnectionRequest request = station.endpoint.nextConnectionRequest(null);
            try (Connection server = request.connect(null)) {
                System.out.println(nextEvent(client) + " " + nextEvent(server));
            }
        }
    }

    /** Waits for an event without a descriptor. */
    private static ConnectionEvent nextEvent(Connection connection) throws RpmaException {
        ConnectionEvent event = connection.nextEvent();
        while (event == null) {
            Thread.onSpinWait();
            event = connection.nextEvent();
        }
        return event;
    }

    /** Requests the descriptors of a completion queue when there are none left. */
    private static void createDescriptors(Station station) throws Exception {
        try (ConnectionConfig config = station.provider.newConnectionConfig().sharedCompletionChannel(true);
                Connection client = station.peer.newConnectionRequest(station.address(), config).connect(null);
                Connection server = station.accept()) {
            exhaust();
            try {
                client.completionFd();
            } catch (RpmaException | IllegalStateException e) {
                print(e);
            }
            try {
                server.completionQueue().fd();
            } catch (IllegalStateException e) {
                print(e);
            }
            release();
            System.out.println(client.completionFd() >= 0);
        }
    }
}
