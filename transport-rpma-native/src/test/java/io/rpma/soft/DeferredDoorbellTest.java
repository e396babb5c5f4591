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
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.WorkCompletions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests a completion queue whose descriptor is created when it is requested: that of the work requests of a connection whose
 * receives complete in a shared receive queue. The other end is in another process.
 */
@Timeout(120)
class DeferredDoorbellTest {
    private static final int CONNECTIONS = 10;

    private Listening listening;
    private Station station;
    private SharedReceiveQueue shared;
    private ConnectionConfig config;

    @BeforeEach
    void open() throws Exception {
        listening = new Listening();
        station = listening.station;
        shared = station.peer.newSharedReceiveQueue(
            station.provider.newSharedReceiveQueueConfig().receiveQueueSize(4).receiveCompletionQueueSize(4));
        config = station.provider.newConnectionConfig().sharedReceiveQueue(shared);
    }

    @AfterEach
    void close() throws Exception {
        config.close();
        shared.close();
        listening.close();
    }

    private Connection accept() throws Exception {
        return listening.accept(config, 0, 0);
    }

    /** Returns the number of sockets and pipes that this process has open. */
    private static long descriptors() throws IOException {
        long count = 0;
        for (String fd : new File("/proc/self/fd").list()) {
            Path link = Path.of("/proc/self/fd", fd);
            if (Files.isSymbolicLink(link)) {
                String target = Files.readSymbolicLink(link).toString();
                count += target.startsWith("socket:") || target.startsWith("pipe:") ? 1 : 0;
            }
        }
        return count;
    }

    private static void receive(Child child) throws Exception {
        child.order("receive");
        child.expect("posted");
    }

    private void send(Connection connection, long context) throws Exception {
        connection.send(station.region, 0, 64, CompletionFlag.ALWAYS, context);
    }

    /** The sender waits for a receive, which the other process posts. That process never looks for its connection events. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aReceiveWakesTheSender(boolean requestedBefore) throws Exception {
        try (Child child = Child.start("receives", listening.port); Connection connection = accept()) {
            child.expect("ready");
            CompletionQueue queue = connection.completionQueue();
            if (requestedBefore) {
                assertFalse(Station.isReadable(queue.fd()));
            }
            send(connection, 1);
            assertEquals(0, queue.poll(new WorkCompletions(1)));
            assertFalse(Station.isReadable(queue.fd()));
            receive(child);
            Station.awaitReadable(queue.fd(), "completion");
            assertTrue(queue.consumeEvent());
            Station.expect(queue, 1, 0);
            child.expect("received");
            // The queue is armed again.
            send(connection, 2);
            assertEquals(0, queue.poll(new WorkCompletions(1)));
            receive(child);
            Station.expect(queue, 2, 0);
            child.expect("received");
        }
    }

    @Test
    void aDescriptorRequestedAfterTheCompletionIsReadable() throws Exception {
        try (Child child = Child.start("receives", listening.port); Connection connection = accept()) {
            child.expect("ready");
            receive(child);
            send(connection, 1);
            child.expect("received");
            CompletionQueue queue = connection.completionQueue();
            assertTrue(Station.isReadable(queue.fd()));
            assertTrue(queue.consumeEvent());
            Station.expect(queue, 1, 0);
            assertFalse(Station.isReadable(queue.fd()));
            assertFalse(queue.consumeEvent());
        }
    }

    @Test
    void aClientMayRequestTheDescriptorBeforeItIsConnected() throws Exception {
        try (Child child = Child.start("early", listening.port); Connection connection = accept()) {
            child.expect("waits");
            assertEquals(0, connection.completionQueue().poll(new WorkCompletions(1)));
            shared.receive(station.region, 0, 64, 1);
            child.expect("sent");
            Station.expect(shared.receiveCompletionQueue(), 1, 0);
        }
    }

    @Test
    void eventsAreConsumedWithoutTheDescriptor() throws Exception {
        try (Child child = Child.start("receives", listening.port); Connection connection = accept()) {
            child.expect("ready");
            CompletionQueue queue = connection.completionQueue();
            long before = descriptors();
            for (int round = 0; round < 3; round++) {
                assertFalse(queue.consumeEvent());
                receive(child);
                send(connection, round);
                child.expect("received");
                assertTrue(queue.consumeEvent());
                Station.expect(queue, round, 0);
            }
            assertEquals(before, descriptors());
        }
    }

    @Test
    void aConnectionHasOneDescriptorUntilAnotherOneIsRequested() throws Exception {
        List<Connection> connections = new ArrayList<>();
        try (Child child = Child.start("shared", listening.port, 1 + CONNECTIONS)) {
            // The first connection also needs the descriptors that all connections share.
            Connection first = accept();
            long before = descriptors();
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(accept());
            }
            assertEquals(before + CONNECTIONS, descriptors());
            for (Connection connection : connections) {
                assertEquals(connection.completionQueue().fd(), connection.completionQueue().fd());
            }
            assertEquals(before + 2 * CONNECTIONS, descriptors());
            for (Connection connection : connections) {
                connection.close();
            }
            assertEquals(before, descriptors());
            first.close();
            child.order("end");
        }
    }

    /** The connection is closed while another thread waits for its queue, or before. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aThreadThatWaitsFindsTheConnectionClosed(boolean waitsBefore) throws Exception {
        try (Child child = Child.start("receives", listening.port)) {
            Connection connection = accept();
            child.expect("ready");
            CompletionQueue queue = connection.completionQueue();
            if (!waitsBefore) {
                connection.close();
            }
            CompletableFuture<Object> wait = new CompletableFuture<>();
            Thread waiter = Thread.ofPlatform().start(() -> {
                try {
                    wait.complete(queue.waitForCompletions(Duration.ofSeconds(60)));
                } catch (Throwable e) {
                    wait.complete(e);
                }
            });
            if (waitsBefore) {
                while (waiter.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
                connection.close();
            }
            assertEquals(RpmaError.INVALID, ((RpmaException) wait.join()).error());
            waiter.join();
        }
    }

    /** A doorbell that is not expected, the second one, and a message without one: only this connection breaks. */
    @ParameterizedTest
    @ValueSource(strings = {"unexpected", "second", "none"})
    void anInvalidDoorbellBreaksItsConnection(String kind) throws Exception {
        try (Child child = Child.start("receives", listening.port); Connection connection = accept();
            Child hostile = Child.start("doorbells", listening.port, kind)) {
            child.expect("ready");
            try (Connection broken = accept()) {
                hostile.expect("sent");
                Station.expect(ConnectionEvent.LOST, broken);
            }
            receive(child);
            send(connection, 1);
            Station.expect(connection.completionQueue(), 1, 0);
            child.expect("received");
        }
    }
}
