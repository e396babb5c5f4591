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
package io.rpma.soft.process;

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.shared.CompletionChannel;
import io.rpma.soft.shared.Doorbell;
import io.rpma.soft.shared.EventPipe;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how an end finds the doorbell that its peer sends later, in all orders of the events. */
@Timeout(60)
class RemoteDoorbellTest {
    private final MemorySegment word = Arena.ofAuto().allocate(4, 4);
    private final long armed = word.address();
    private final CompletionChannel channel = CompletionChannel.deferred();
    private final RemoteDoorbell doorbell = new RemoteDoorbell(armed);
    private final int[] ends = new int[2];
    private ControlSocket socket;

    @BeforeEach
    void open() {
        assertEquals(0, Sockets.socketPair(ends));
        socket = new ControlSocket(null, ends[0], (int) ProcessHandle.current().pid());
        doorbell.receiveFrom(socket);
        Memory.putInt(armed, Doorbell.UNWATCHED);
    }

    @AfterEach
    void close() {
        doorbell.release();
        channel.close();
        socket.close();
        Posix.close(ends[1]);
    }

    /** The owner requests the descriptor, which it sends to the other end. */
    private int watch() throws Exception {
        return channel.watch(armed, event -> {
            int lent = event.openForPeer();
            assertEquals(0, ControlMessage.of(ControlMessage.DOORBELL).attach(ControlMessage.EVENT, 0, 0, lent).send(ends[1]));
            Posix.close(lent);
        });
    }

    private static boolean isReadable(int fd) {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) > 0;
    }

    private boolean consume() {
        return channel.consume(armed, 0);
    }

    @Test
    void theRingingThreadTakesTheDoorbellFromTheSocket() throws Exception {
        int fd = watch();
        assertFalse(isReadable(fd));
        for (int i = 0; i < 3; i++) {
            doorbell.ring();
            doorbell.ring();
            assertTrue(isReadable(fd));
            assertTrue(consume());
            assertFalse(isReadable(fd));
            assertFalse(consume());
        }
        assertNull(socket.next(false));
    }

    @Test
    void ringingBeforeTheRequestIsNotLost() throws Exception {
        doorbell.ring();
        int fd = watch();
        assertTrue(isReadable(fd));
        assertTrue(consume());
        assertFalse(isReadable(fd));
        doorbell.ring();
        assertTrue(isReadable(fd));
    }

    @Test
    void anEventConsumedBeforeTheRequestIsNotReportedAgain() throws Exception {
        doorbell.ring();
        assertTrue(consume());
        int fd = watch();
        assertFalse(isReadable(fd));
        assertFalse(consume());
        doorbell.ring();
        assertTrue(isReadable(fd));
    }

    /** A message for the application is in front of the doorbell, so the queue is signalled when the application has taken it. */
    @Test
    void aDoorbellBehindAnotherMessageRingsWhenItArrives() throws Exception {
        assertEquals(0, ControlMessage.bare(ControlMessage.READY).send(ends[1]));
        int fd = watch();
        doorbell.ring();
        assertFalse(isReadable(fd));
        assertEquals(ControlMessage.READY, socket.next(false).type());
        ControlMessage message = socket.next(false);
        assertTrue(doorbell.arrived(ControlSocket.openDoorbell(message)));
        message.closeAttachments();
        assertTrue(isReadable(fd));
        assertTrue(consume());
        assertFalse(consume());
        doorbell.ring();
        assertTrue(isReadable(fd));
    }

    @Test
    void aDoorbellThatNobodyHasMissedDoesNotRing() throws Exception {
        int fd = watch();
        ControlMessage message = socket.next(false);
        assertTrue(doorbell.arrived(ControlSocket.openDoorbell(message)));
        message.closeAttachments();
        assertFalse(isReadable(fd));
        EventPipe second = EventPipe.create();
        assertFalse(doorbell.arrived(second));
        second.release();
    }

    /** The peer sends a doorbell that is not a pipe: the connection is broken, and nothing is signalled. */
    @Test
    void anInvalidDoorbellBreaksTheConnection() {
        Memory.putInt(armed, Doorbell.ARMED);
        assertEquals(0, ControlMessage.of(ControlMessage.DOORBELL).attach(ControlMessage.EVENT, 0, 0, ends[1]).send(ends[1]));
        doorbell.ring();
        assertTrue(socket.isBroken());
    }

    /** The peer can write any value to the word. */
    @Test
    void aQueueThatIsArmedWithoutADoorbellIsNotRung() {
        Memory.putInt(armed, Doorbell.ARMED);
        doorbell.ring();
        assertEquals(Doorbell.ARMED, Memory.getInt(armed));
        assertFalse(socket.isBroken());
    }

    @Test
    void aClosedChannelCreatesNoDescriptor() throws Exception {
        channel.endWait();
        assertEquals(-1, watch());
        channel.wake(armed);
    }

    @Test
    void aWakeUpBeforeTheRequestIsNotLost() throws Exception {
        channel.wake(armed);
        assertTrue(isReadable(watch()));
        assertTrue(consume());
    }
}
