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
import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests two ends in one process: messages, completions, events. */
class SoftConnectionTest {
    @Test
    void messageArrivesWithItsImmediate() throws RpmaException {
        try (Ends ends = new Ends()) {
            ends.server.receive(ends.region, 4096, 100, 7);
            ends.memory.set(JAVA_INT, 0, 0x12345678);
            ends.client.sendWithImmediate(ends.region, 0, 4, CompletionFlag.ALWAYS, 42, 8);
            assertEquals(1, ends.poll(ends.server));
            assertEquals(7, ends.completions.context(0));
            assertEquals(0, ends.completions.statusCode(0));
            assertEquals(CompletionOpcode.RECV, ends.completions.opcode(0));
            assertEquals(4, ends.completions.byteLength(0));
            assertTrue(ends.completions.hasImmediate(0));
            assertEquals(42, ends.completions.immediate(0));
            assertEquals(ends.server.queuePairNumber(), ends.completions.queuePairNumber(0));
            assertEquals(0x12345678, ends.memory.get(JAVA_INT, 4096));
            ends.expect(ends.client, 8, 0);
        }
    }

    @Test
    void sendWaitsForAReceive() throws RpmaException {
        try (Ends ends = new Ends()) {
            ends.client.send(ends.region, 0, 4, CompletionFlag.ALWAYS, 8);
            assertEquals(0, ends.client.completionQueue().poll(ends.completions));
            ends.server.receive(ends.region, 4096, 100, 7);
            ends.expect(ends.client, 8, 0);
            ends.expect(ends.server, 7, 0);
        }
    }

    @Test
    void disconnectFlushesTheOwnReceives() throws RpmaException {
        try (Ends ends = new Ends()) {
            ends.client.receive(ends.region, 0, 10, 1);
            ends.server.receive(ends.region, 0, 10, 2);
            ends.client.disconnect();
            ends.expect(ends.client, 1, 5);
            assertEquals(ConnectionEvent.CLOSED, Station.awaitEvent(ends.server));
            assertEquals(0, ends.server.completionQueue().poll(ends.completions));
            assertNull(ends.client.nextEvent());
            ends.server.disconnect();
            ends.expect(ends.server, 2, 5);
            assertEquals(ConnectionEvent.CLOSED, Station.awaitEvent(ends.client));
        }
    }

    /** The end of the socket notifies the peer; a message in front of it would cost both ends a system call and more. */
    @Test
    void disconnectBeforeCloseFlushesAndLeavesTheNoticeToClose() throws RpmaException {
        try (Ends ends = new Ends()) {
            ends.client.receive(ends.region, 0, 10, 1);
            ends.client.disconnectBeforeClose();
            ends.expect(ends.client, 1, 5);
            assertNull(ends.server.nextEvent());
            ends.server.send(null, 0, 0, CompletionFlag.ALWAYS, 3);
            assertEquals(1, ends.poll(ends.server));
            assertEquals(CompletionStatus.RETRY_EXC_ERR.code(), ends.completions.statusCode(0));
            ends.client.close();
            assertEquals(ConnectionEvent.CLOSED, Station.awaitEvent(ends.server));
            assertNull(ends.server.nextEvent());
        }
    }

    /** The end of the socket stays readable. It is replaced only for an application that does not close the connection. */
    @Test
    void theSocketIsReplacedForWhoAsksForEventsAfterTheEnd() throws Exception {
        try (Ends ends = new Ends()) {
            Path descriptor = Path.of("/proc/self/fd/" + ends.server.eventFd());
            Path socket = Files.readSymbolicLink(descriptor);
            ends.client.close();
            assertEquals(ConnectionEvent.CLOSED, Station.awaitEvent(ends.server));
            assertEquals(socket, Files.readSymbolicLink(descriptor));
            assertNull(ends.server.nextEvent());
            assertFalse(Station.isReadable(ends.server.eventFd()));
        }
    }

    @Test
    void aNewQueueIsArmedAndFiresOnce() throws RpmaException {
        try (Ends ends = new Ends()) {
            int fd = ends.server.completionQueue().fd();
            assertFalse(Station.isReadable(fd));
            ends.server.receive(ends.region, 0, 10, 1);
            ends.server.receive(ends.region, 0, 10, 2);
            ends.client.send(null, 0, 0, CompletionFlag.ON_ERROR, 8);
            assertTrue(Station.isReadable(fd));
            assertTrue(ends.server.completionQueue().consumeEvent());
            assertFalse(Station.isReadable(fd));
            assertFalse(ends.server.completionQueue().consumeEvent());
            ends.client.send(null, 0, 0, CompletionFlag.ON_ERROR, 9);
            assertTrue(Station.isReadable(fd));
            ends.expect(ends.server, 1, 0);
            ends.expect(ends.server, 2, 0);
            assertTrue(ends.server.completionQueue().consumeEvent());
            assertEquals(0, ends.server.completionQueue().poll(ends.completions));
        }
    }
}
