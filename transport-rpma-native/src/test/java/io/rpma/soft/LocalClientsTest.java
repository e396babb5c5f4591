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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.shared.Range;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests a client whose descriptor the listener cannot remove from its epoll set: the client is closed, and nothing else is
 * affected. Also tests clients that have to wait because the listener lacks memory for them.
 */
class LocalClientsTest {
    /** More clients than may wait. */
    private static final int MANY = 300;

    private final int[] ends = new int[2];
    private Station station;
    private int epoll;
    private EndpointTimer timer;
    private LocalClients clients;

    @BeforeEach
    void connect() throws Exception {
        station = new Station();
        epoll = Sockets.epollCreate();
        timer = new EndpointTimer(Libc.timerfd());
        SoftPeer peer = (SoftPeer) station.peer;
        clients = new LocalClients(peer.domain(), peer.rendezvous().names(),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), epoll, timer);
        assertEquals(0, Sockets.socketPair(ends));
        assertNull(clients.accepted(ends[0], null), "the client has sent nothing yet");
        assertEquals(1, clients.count());
        assertEquals(4, Sockets.send(ends[1], Scratch.get().messageAddress(), 4));
    }

    @AfterEach
    void close() throws Exception {
        clients.close();
        timer.close();
        Posix.close(epoll);
        Posix.close(ends[1]);
        station.close();
    }

    /** Removes the client from the set, so that the kernel refuses to remove it again, and checks that it is closed. */
    private void assertGoes() {
        assertEquals(0, Sockets.epollRemove(epoll, ends[0]));
        assertThrows(RpmaException.class, () -> clients.read(ends[0], null));
        assertEquals(0, clients.count());
        assertTrue(Sockets.hasHungUp(ends[1]), "the socket of the client is still open");
    }

    @Test
    void aClientThatHasJustSpokenIsClosed() {
        assertGoes();
    }

    /** What the clients share is too large for the listener at any time. Their number is limited as that of silent clients is. */
    @Test
    void clientsForWhichMemoryIsMissingAreNotKeptWithoutALimit() throws Exception {
        long large = MappingLimit.ofKernel().mostBytesEach() / 2;
        Range range = Range.create(1, large);
        List<Integer> descriptors = new ArrayList<>();
        try (TakenAddresses taken = new TakenAddresses(large)) {
            assertTrue(taken.areAny());
            boolean refused = false;
            for (int i = 1; !refused && i <= MANY; i++) {
                int[] control = new int[2];
                int[] link = new int[2];
                assertEquals(0, Sockets.socketPair(control));
                assertEquals(0, Sockets.socketPair(link));
                descriptors.add(control[1]);
                descriptors.add(link[1]);
                assertEquals(0, ControlMessage.of(ControlMessage.SHARED)
                    .attach(ControlMessage.RANGE, 1, range.size(), range.fd()).send(link[1]));
                RawClient.request(control[1], new EndDescription(i, i, i, 1, 0, 4, 1, 2, 16, 16, EndDescription.MAIN, 0, 0, 0),
                    link[0]);
                Posix.close(link[0]);
                RpmaException shortage = assertThrows(RpmaException.class, () -> clients.accepted(control[0], null));
                assertEquals(RpmaError.NO_MEMORY, shortage.error());
                refused = Sockets.hasHungUp(control[1]);
                assertEquals(refused ? i : i + 1, clients.count());
            }
            assertTrue(refused);
        } finally {
            descriptors.forEach(Posix::close);
            range.close();
        }
    }

    /** The client's time is over when its data has arrived, which is therefore read later. */
    @Test
    void aClientWhoseDataIsReadLaterIsClosed() {
        clients.expire(System.nanoTime() + 2 * LocalClients.CLIENT_MILLIS * 1_000_000);
        assertEquals(1, clients.count());
        assertGoes();
    }
}
