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

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Tests several copies of the provider in one process, as in an application server whose applications contain it. They have the
 * same process number, and do not share memory unless they connect.
 */
@Timeout(120)
class CopiesTest {
    private static final int COPIES = 3;

    // Their class loaders stay open, because a timer of a copy may need a further class.
    private static final List<Function<String, Integer>> COPY = new ArrayList<>();
    private ExecutorService threads;

    @BeforeAll
    @SuppressWarnings("unchecked")
    static void load() throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : ChildProcess.classPath().split(":")) {
            path.add(Path.of(entry).toUri().toURL());
        }
        while (COPY.size() < COPIES) {
            ClassLoader loader = new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            COPY.add((Function<String, Integer>) loader.loadClass("io.rpma.soft.Copy").getConstructor().newInstance());
        }
    }

    @BeforeEach
    void open() {
        threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    void close() {
        for (Function<String, Integer> copy : COPY) {
            copy.apply("end");
        }
        threads.close();
    }

    /** Connects one copy to the last listener of another one. */
    private void connect(Function<String, Integer> client, Function<String, Integer> server, int port) throws Exception {
        CompletableFuture<Integer> accepted = CompletableFuture.supplyAsync(() -> server.apply("accept"), threads);
        client.apply("connect " + port);
        accepted.get();
    }

    @Test
    void aCopyConnectsToAnotherOne() throws Exception {
        Function<String, Integer> server = COPY.get(0);
        Function<String, Integer> client = COPY.get(2);
        int port = server.apply("listen");
        connect(client, server, port);
        int own = client.apply("listen");
        connect(server, client, own);
        connect(client, client, own);
    }

    @Test
    void aClientConnectsToTwoCopies() throws Exception {
        Function<String, Integer> first = COPY.get(0);
        Function<String, Integer> second = COPY.get(1);
        Function<String, Integer> client = COPY.get(2);
        connect(client, first, first.apply("listen"));
        int port = second.apply("listen");
        connect(client, second, port);
        connect(client, second, port);
        assertEquals(2, client.apply("links"));
    }

    /** A further listener of the same process needs a link of its own for its first connection only. */
    @Test
    void listenersOfOneProcessShareALink() throws Exception {
        Function<String, Integer> server = COPY.get(0);
        Function<String, Integer> client = COPY.get(2);
        connect(client, server, server.apply("listen"));
        int port = server.apply("listen");
        connect(client, server, port);
        assertEquals(2, client.apply("links"));
        client.apply("disconnect");
        assertEquals(1, client.apply("links"));
        connect(client, server, port);
        assertEquals(1, client.apply("links"));
    }
}
