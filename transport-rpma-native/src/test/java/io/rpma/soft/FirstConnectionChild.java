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

import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.OpenFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * A process whose first connections are requested while it has no descriptors: none at first, and then one more each time until
 * it succeeds. It prints what happened last.
 */
final class FirstConnectionChild {
    private final Deque<Integer> taken = new ArrayDeque<>();

    private FirstConnectionChild() {
    }

    public static void main(String[] arguments) throws Exception {
        loadClasses();
        Station station = new Station();
        Endpoint endpoint = station.listen();
        Connection client = new FirstConnectionChild().connect(station, endpoint);
        try (Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        }
        System.out.println("established");
        System.exit(0);
    }

    /** Loads classes in advance, because loading a class from a folder needs a descriptor. It does not initialize them. */
    private static void loadClasses() throws IOException, ReflectiveOperationException {
        for (Class<?> one : List.of(OpenFiles.class, FirstConnectionChild.class)) {
            Path root = Path.of(one.getProtectionDomain().getCodeSource().getLocation().getPath());
            if (Files.isDirectory(root)) {
                List<String> names;
                try (Stream<Path> files = Files.walk(root.resolve("io/rpma"))) {
                    names = files.map(file -> root.relativize(file).toString()).filter(name -> name.endsWith(".class"))
                        .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.')).toList();
                }
                for (String name : names) {
                    if (one == OpenFiles.class || name.matches("io\\.rpma\\.soft\\.(FirstConnectionChild|Station).*")) {
                        Class.forName(name, false, FirstConnectionChild.class.getClassLoader());
                    }
                }
            }
        }
    }

    private Connection connect(Station station, Endpoint endpoint) {
        int free = 0;
        while (true) {
            exhaust();
            for (int i = 0; i < free; i++) {
                Posix.close(taken.pop());
            }
            try {
                Connection client = station.peer.newConnectionRequest(endpoint.localAddress(), null).connect(null);
                taken.forEach(Posix::close);
                return client;
            } catch (RpmaException e) {
                free++;
            }
        }
    }

    private void exhaust() {
        int fd = Posix.duplicate(0);
        while (fd >= 0) {
            taken.push(fd);
            fd = Posix.duplicate(0);
        }
    }
}
