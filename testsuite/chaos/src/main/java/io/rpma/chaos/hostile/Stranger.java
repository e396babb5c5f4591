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

package io.rpma.chaos.hostile;

import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.chaos.Addresses;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A process of another user. It tries to connect, which must fail. Then it takes as many as possible of the names that clients
 * and the other addresses of the server would have, and keeps them.
 */
final class Stranger implements Attack {
    private static final byte[] HANDSHAKE = {0x4e, 0x52, 0x50, 0x4d, 1, 1, 0, 0, 0, 0, 0x40, 0, 0, 16, 0, 16};
    private static final int CONNECTS = 20;
    private static final int FIRST_PORT = 32_768;
    private static final int PORTS = 32_768;

    @Override
    public void run(Addresses addresses, SplittableRandom random, long end) throws Exception {
        List<String> listeners = ListenerNames.of(addresses.streamPort());
        int connected = connect(addresses);
        if (connected > 0) {
            Report.say("wrong the server took " + connected + " connections of another user");
        }
        int names = takeListeners(listeners, addresses.streamPort());
        int clients = takeClients(listeners.getFirst(), random);
        Report.say("did " + CONNECTS + " connects, took " + names + " names of listeners and " + clients + " of clients");
        if (names == 0 || clients == 0) {
            Report.say("wrong this process could take no names, because they have changed or another process has them");
        }
        Report.say("count " + (CONNECTS + names + clients));
        Report.say("ready");
        TimeUnit.MILLISECONDS.sleep(Math.max(0, (end - System.nanoTime()) / 1_000_000));
    }

    /** Tries to connect, and returns how often that succeeded. */
    private static int connect(Addresses addresses) throws Exception {
        RawPeer peer = new RawPeer(addresses.stream());
        int connected = 0;
        for (int i = 0; i < CONNECTS; i++) {
            try {
                if (peer.connect(addresses.stream(), ByteBuffer.wrap(HANDSHAKE)) == ConnectionEvent.ESTABLISHED) {
                    connected++;
                }
            } catch (RpmaException e) {
                // The connection was refused, which is correct.
                continue;
            } finally {
                peer.close();
            }
        }
        return connected;
    }

    /**
     * Takes the names of more specific addresses than the one that the server has bound. Clients look there first. Returns how
     * many names were free.
     */
    private static int takeListeners(List<String> listeners, int port) {
        Set<String> names = new HashSet<>();
        for (String listener : listeners) {
            for (String host : List.of("7f000001", "00000000", "00000000000000000000000000000000")) {
                names.add(listener.replaceFirst("/[0-9a-f]{8,32}/" + port, "/" + host + "/" + port));
            }
        }
        int taken = 0;
        for (String name : names) {
            for (int type : new int[] {UnixSocket.SEQPACKET, UnixSocket.DGRAM}) {
                int fd = UnixSocket.create(type);
                if (UnixSocket.bind(fd, name) == 0) {
                    taken++;
                    UnixSocket.listen(fd);
                }
            }
        }
        return taken;
    }

    /** Takes the names of clients, as many as this process may open sockets. Returns how many names were free. */
    private static int takeClients(String listener, SplittableRandom random) {
        String client = listener.replaceFirst("/listen/.*", "/client/7f000001/");
        int first = FIRST_PORT + random.nextInt(PORTS);
        int taken = 0;
        for (int i = 0; i < PORTS; i++) {
            int fd = UnixSocket.create(UnixSocket.SEQPACKET);
            if (fd < 0) {
                break;
            }
            if (UnixSocket.bind(fd, client + (FIRST_PORT + (first + i) % PORTS)) == 0) {
                taken++;
            }
        }
        return taken;
    }
}
