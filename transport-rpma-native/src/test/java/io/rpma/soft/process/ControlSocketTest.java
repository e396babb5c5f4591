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

import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.shared.EventPipe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the messages that are received while no attachments are expected. */
@Timeout(60)
class ControlSocketTest {
    private final int[] ends = new int[2];
    private ControlSocket socket;

    @BeforeEach
    void open() {
        assertEquals(0, Sockets.socketPair(ends));
        socket = new ControlSocket(null, ends[0], (int) ProcessHandle.current().pid());
    }

    @AfterEach
    void close() {
        socket.close();
        Posix.close(ends[1]);
    }

    private void send(ControlMessage message) {
        assertEquals(0, message.send(ends[1]));
    }

    private void sendDoorbell() throws Exception {
        EventPipe pipe = EventPipe.create();
        int lent = pipe.openForPeer();
        send(ControlMessage.of(ControlMessage.DOORBELL).attach(ControlMessage.EVENT, 0, 0, lent));
        Posix.close(lent);
        pipe.release();
    }

    @Test
    void messagesAreReceivedOneByOne() throws Exception {
        assertNull(socket.next(true));
        send(ControlMessage.bare(ControlMessage.READY));
        sendDoorbell();
        assertEquals(ControlMessage.READY, socket.next(true).type());
        ControlMessage doorbell = socket.next(false);
        assertEquals(1, doorbell.attachments().size());
        doorbell.closeAttachments();
        assertNull(socket.next(true));
        assertFalse(socket.hasEnded());
    }

    @Test
    void anAttachmentThatIsNotExpectedBreaksTheConnectionAndLeaksNothing() throws Exception {
        int before = Posix.duplicate(ends[1]);
        Posix.close(before);
        sendDoorbell();
        assertNull(socket.next(true));
        assertTrue(socket.isBroken());
        assertTrue(socket.hasEnded());
        int after = Posix.duplicate(ends[1]);
        Posix.close(after);
        assertEquals(before, after, "the lowest free descriptor");
    }

    @Test
    void theEndOfTheOtherSideIsFoundBehindItsMessages() throws Exception {
        send(ControlMessage.bare(ControlMessage.READY));
        int other = ends[1];
        ends[1] = Posix.duplicate(ends[0]);
        Posix.close(other);
        assertEquals(ControlMessage.READY, socket.next(true).type());
        assertFalse(socket.hasEnded());
        assertNull(socket.next(true));
        assertTrue(socket.hasEnded());
        assertFalse(socket.isBroken());
    }
}
