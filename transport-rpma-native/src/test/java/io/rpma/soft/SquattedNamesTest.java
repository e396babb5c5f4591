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
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.AbstractNames;
import io.rpma.soft.control.Rendezvous;
import io.rpma.soft.host.Libc;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests names in the abstract namespace, which any process may take, and what other users can do with them. */
@Timeout(120)
class SquattedNamesTest {
    /** A port that no other process which runs this test uses, and that the kernel does not choose for anyone. */
    private static final int PORT = 10_000 + (int) (ProcessHandle.current().pid() % 20_000);

    private final List<Integer> squatters = new ArrayList<>();
    private Station station;
    private InetSocketAddress address;

    @BeforeEach
    void open() throws Exception {
        station = new Station();
        // An address that only this test uses.
        address = new InetSocketAddress(InetAddress.getByName("127.54.32.1"), PORT);
    }

    @AfterEach
    void close() throws Exception {
        squatters.forEach(Posix::close);
        station.close();
    }

    private Rendezvous rendezvous() {
        return ((SoftPeer) station.peer).rendezvous();
    }

    private int bind(String name, int type) {
        int fd = Sockets.socket(Sockets.AF_UNIX, type | Sockets.SOCK_NONBLOCK);
        assertTrue(fd >= 0, Posix.strerror(-fd));
        squatters.add(fd);
        assertEquals(0, Sockets.bindAbstract(fd, name));
        return fd;
    }

    /** Takes both names of a listener as another user. */
    private void squat(InetSocketAddress of) {
        String name = rendezvous().names().listener(of);
        int listening = AnotherUser.call(() -> {
            int fd = bind(name, Sockets.SOCK_SEQPACKET);
            bind(name, Sockets.SOCK_DGRAM);
            return Sockets.listen(fd, 16);
        });
        assertEquals(0, listening);
    }

    private void connect(InetSocketAddress remote, Endpoint endpoint) throws RpmaException {
        ConnectionRequest request = station.peer.newConnectionRequest(remote, null);
        try (Connection client = request.connect(null);
                Connection accepted = Station.awaitRequest(endpoint, null).connect(null)) {
            Station.expect(ConnectionEvent.ESTABLISHED, client);
            Station.expect(ConnectionEvent.ESTABLISHED, accepted);
        }
    }

    @Test
    void aListenerOfAnotherUserIsPassedOver() throws Exception {
        AnotherUser.assumeRoot();
        try (Endpoint endpoint = station.peer.listen(new InetSocketAddress("0.0.0.0", 0))) {
            InetSocketAddress target = new InetSocketAddress(address.getAddress(), endpoint.localAddress().getPort());
            connect(target, endpoint);
            squat(target);
            // Connects through the cached path, and through a path that is looked up again.
            connect(target, endpoint);
            connect(new InetSocketAddress(InetAddress.getByName("127.54.32.2"), target.getPort()), endpoint);
            connect(target, endpoint);
        }
    }

    @Test
    void aUserWhoListensInPlaceOfThisOneIsNamed() throws Exception {
        AnotherUser.assumeRoot();
        squat(address);
        ConnectionRequest request = station.peer.newConnectionRequest(address, null);
        RpmaException failure = assertThrows(RpmaException.class, () -> request.connect(null));
        assertEquals(Posix.EACCES, failure.errno());
        assertTrue(failure.getMessage().contains("the listener at " + address + " belongs to user " + AnotherUser.ID
            + " (process " + ProcessHandle.current().pid() + "), and this process to user 0"), failure.getMessage());
    }

    @Test
    void aUserWhoHoldsTheNameOfAListenerIsNamed() throws Exception {
        AnotherUser.assumeRoot();
        squat(address);
        RpmaException failure = assertThrows(RpmaException.class, () -> station.peer.listen(address));
        assertEquals(Posix.EADDRINUSE, failure.errno());
        assertTrue(failure.getMessage().contains(rendezvous().names().listener(address) + " is taken by user " + AnotherUser.ID
            + " (process " + ProcessHandle.current().pid() + ')'), failure.getMessage());
    }

    @Test
    void aNameIsTakenByWhoeverDoesNotListen() throws Exception {
        bind(rendezvous().names().listener(address), Sockets.SOCK_DGRAM);
        RpmaException failure = assertThrows(RpmaException.class, () -> station.peer.listen(address));
        assertEquals(Posix.EADDRINUSE, failure.errno());
        assertTrue(failure.getMessage().contains("'ss -xap'"), failure.getMessage());
    }

    @Test
    void namesOfDifferentUsersAreDifferent() {
        int user = Libc.geteuid();
        assertTrue(rendezvous().names().listener(address).contains("/" + user + "/listen/"));
        assertTrue(rendezvous().names().client(address.getAddress(), PORT).contains("/" + user + "/client/"));
    }

    @Test
    void connectingWorksWithoutAnyNameOfAClient() throws Exception {
        LocalProcess process = ((SoftProvider) station.provider).process();
        int ports = 16;
        Rendezvous few = new Rendezvous(process.host(), new AbstractNames(process.user()), 40_000, ports);
        try (Endpoint endpoint = station.peer.listen(address)) {
            Rendezvous.Route route = few.find(endpoint.localAddress());
            List<Integer> sockets = new ArrayList<>();
            Set<Integer> shown = new HashSet<>();
            for (int i = 0; i < ports * 3 / 4; i++) {
                Rendezvous.Dialled dialled = few.dial(route);
                assertTrue(dialled.fd() >= 0);
                sockets.add(dialled.fd());
                shown.add(dialled.local().getPort());
            }
            assertEquals(ports * 3 / 4, shown.size(), "ports of connections that exist at the same time: " + shown);
            for (int i = 0; i < ports; i++) {
                Rendezvous.Dialled dialled = few.dial(route);
                assertTrue(dialled.fd() >= 0, "the client could not connect without a name");
                sockets.add(dialled.fd());
                int port = dialled.local().getPort();
                assertTrue(port >= 40_000 && port < 40_000 + ports, "port " + port);
            }
            sockets.forEach(Posix::close);
        }
    }
}
