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
import io.rpma.posix.Sockets;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests a process of the same user in another user namespace, as a container may have, where users have other identifiers or
 * none.
 */
@Timeout(120)
class UserNamespaceTest {
    private static final int POLL_MILLIS = 10;

    private Station station;
    private Process process;
    private BufferedReader answers;
    private PrintWriter orders;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
    }

    @AfterEach
    void close() throws Exception {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
        station.close();
    }

    /** Starts the process in a separate namespace. Returns the port that it listens on. */
    private int start(String... options) throws Exception {
        List<String> program = new ArrayList<>(List.of("unshare", "--user"));
        program.addAll(List.of(options));
        assumeWorking(program);
        process = ChildProcess.startBy(program, List.of(), ConnectingChild.class);
        answers = process.inputReader();
        orders = new PrintWriter(process.outputWriter(), true);
        return Integer.parseInt(answers.readLine());
    }

    private static void assumeWorking(List<String> program) throws Exception {
        List<String> trial = new ArrayList<>(program);
        trial.add("true");
        boolean works;
        try {
            works = new ProcessBuilder(trial).start().waitFor() == 0;
        } catch (IOException e) {
            works = false;
        }
        Assumptions.assumeTrue(works, "user namespaces cannot be created here");
    }

    private String order(String order) throws IOException {
        orders.println(order);
        return answers.readLine();
    }

    @Test
    void aUserWithoutANumberIsRefused() throws Exception {
        int port = start();
        try (Endpoint endpoint = station.listen()) {
            CompletableFuture<String> connecting = CompletableFuture.supplyAsync(() -> connect(endpoint));
            while (!connecting.isDone()) {
                // The endpoint answers by TCP how it can be found. In the other namespace the user has another number, so the
                // client does not know the name.
                Sockets.poll(endpoint.fd(), (short) Sockets.EPOLLIN, POLL_MILLIS);
                assertNull(endpoint.nextConnectionRequest(null));
            }
            String answer = connecting.get();
            assertTrue(answer.startsWith("errno " + Posix.EACCES) && answer.contains("/proc/self/uid_map"), answer);
        }
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        CompletableFuture<ConnectionEvent> event = CompletableFuture.supplyAsync(() -> connect(listener));
        while (!event.isDone()) {
            assertEquals("none", order("next"));
        }
        assertEquals(ConnectionEvent.REJECTED, event.get());
    }

    private String connect(Endpoint endpoint) {
        try {
            return order("connect " + endpoint.localAddress().getPort());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ConnectionEvent connect(InetSocketAddress listener) {
        try (Connection client = station.peer.newConnectionRequest(listener, null).connect(null)) {
            return Station.awaitEvent(client);
        } catch (RpmaException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theSameUserByAnotherNumberIsTheSame() throws Exception {
        int port = start("--map-user=1000");
        InetSocketAddress listener = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        // The listener must answer by TCP how it can be found, because this process does not know its name. The connection
        // request waits for this answer, so another thread gives the order.
        Thread asked = Thread.ofPlatform().daemon().start(this::take);
        try (Connection client = station.peer.newConnectionRequest(listener, null).connect(null)) {
            asked.join();
            assertEquals("accepted", order("accept"));
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            assertEquals("ESTABLISHED", order("await"));
        }
    }

    private void take() {
        try {
            assertEquals("request", order("take"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
