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

import io.rpma.chaos.Addresses;
import io.rpma.posix.Posix;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Sends garbage to every socket of the software provider: the TCP port, the two Unix sockets of the listener, and the control
 * sockets and the links of real connections, which this process finds among its own descriptors.
 */
final class Sockets implements Attack {
    private static final int BURST = 800;
    private static final int SEALS = 7;
    private static final int ANSWER_MILLIS = 5000;

    private final boolean mayConnect;
    private SplittableRandom random;
    private Garbage garbage;
    private String listener;
    private Addresses addresses;
    private long sent;
    private int connected;
    private int sockets;
    private int refused;

    /**
     * Creates the attack.
     *
     * @param mayConnect whether the server accepts this process, because it belongs to the same user
     */
    Sockets(boolean mayConnect) {
        this.mayConnect = mayConnect;
    }

    @Override
    public void run(Addresses of, SplittableRandom from, long end) throws Exception {
        addresses = of;
        random = from;
        List<String> names = ListenerNames.of(addresses.streamPort());
        listener = names.getFirst();
        garbage = new Garbage(random, ListenerNames.version(listener));
        Report.say("ready");
        OwnSockets own = new OwnSockets(addresses);
        do {
            switch (random.nextInt(mayConnect ? 8 : 5)) {
                case 0 -> tcp();
                case 1 -> datagrams();
                case 2 -> silent();
                case 3, 4 -> requests();
                default -> established(own);
            }
            Report.say("count " + sent);
            sent = 0;
        } while (System.nanoTime() < end);
        if (connected == 0 && refused > 2) {
            Report.say("wrong none of " + refused + " honest connections of this process worked");
        }
        if (connected > 2 && sockets == 0) {
            Report.say("wrong none of the sockets of " + connected + " connections of this process was found");
        }
    }

    /** Sends data that is not a valid hello, or almost one. */
    private void tcp() {
        for (int i = 0; i < 20; i++) {
            try (Socket socket = new Socket(addresses.host(), addresses.streamPort())) {
                byte[] bytes = new byte[random.nextInt(1, 600)];
                random.nextBytes(bytes);
                if (random.nextBoolean()) {
                    byte[] magic = {0x52, 0x50, 0x4d, 0x41, 0x53, 0x4f, 0x46, 0x54, 0, 0, 0, 2, 0, 0, 1, 0};
                    System.arraycopy(magic, 0, bytes, 0, Math.min(magic.length, bytes.length));
                }
                OutputStream out = socket.getOutputStream();
                out.write(bytes);
                out.flush();
                sent++;
                if (random.nextBoolean()) {
                    socket.setSoLinger(true, 0);
                }
            } catch (IOException e) {
                // The server has closed the connection, or currently accepts no more connections. Both are correct.
                continue;
            }
        }
    }

    /** Sends datagrams to the second socket of a listener, which only exists so that it can be found, and is never read. */
    private void datagrams() {
        int fd = UnixSocket.create(UnixSocket.DGRAM);
        if (UnixSocket.connect(fd, listener) == 0) {
            for (int i = 0; i < 50; i++) {
                if (UnixSocket.send(fd, garbage.bytes(), garbage.next(0)) == 0) {
                    sent++;
                }
            }
        }
        Posix.close(fd);
    }

    /** Opens many connections that are closed without sending anything. */
    private void silent() {
        for (int i = 0; i < BURST; i++) {
            int fd = UnixSocket.create(UnixSocket.SEQPACKET);
            if (UnixSocket.connect(fd, listener) == 0) {
                sent++;
                if (!mayConnect && i == BURST - 1) {
                    // Waits until the server rejects the last connection, which happens after the others. This limits the length
                    // of the kernel's queue, which any user can fill.
                    UnixSocket.awaitInput(fd, ANSWER_MILLIS);
                }
            }
            Posix.close(fd);
        }
    }

    /** Sends invalid requests. */
    private void requests() {
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int fd = UnixSocket.create(UnixSocket.SEQPACKET);
            if (fd < 0) {
                break;
            }
            open.add(fd);
            if (UnixSocket.connect(fd, listener) == 0) {
                for (int k = random.nextInt(1, 4); k > 0; k--) {
                    send(fd);
                }
            }
        }
        open.forEach(Posix::close);
    }

    private void send(int socket) {
        int[] descriptors = new int[random.nextInt(3) == 0 ? random.nextInt(1, 5) : 0];
        for (int i = 0; i < descriptors.length; i++) {
            descriptors[i] = switch (random.nextInt(4)) {
                case 0 -> UnixSocket.eventFd();
                case 1 -> UnixSocket.create(UnixSocket.SEQPACKET);
                case 2 -> UnixSocket.memoryFile(random.nextInt(1, 64) * 4096L, random.nextInt(8));
                default -> UnixSocket.memoryFile(random.nextLong(1L << 40), SEALS);
            };
        }
        if (UnixSocket.send(socket, garbage.bytes(), garbage.next(descriptors.length), descriptors) == 0) {
            sent++;
        }
        for (int descriptor : descriptors) {
            Posix.close(descriptor);
        }
    }

    /** Sends garbage after a correct handshake, to the control sockets and the link of this process. */
    private void established(OwnSockets own) throws Exception {
        if (!own.connect()) {
            // Earlier messages of this process may have broken its link. This affects no other process.
            refused++;
            own.close();
            return;
        }
        connected++;
        for (int fd : own.descriptors()) {
            sockets++;
            int many = random.nextInt(200, 2000);
            boolean link = random.nextBoolean();
            for (int i = 0; i < many; i++) {
                // Messages that the server tolerates are sent first, as many as the socket accepts.
                if (UnixSocket.send(fd, garbage.bytes(), link ? garbage.gone() : garbage.look()) != 0) {
                    break;
                }
                sent++;
            }
            send(fd);
        }
        own.close();
    }

    /** Returns the descriptors of this process that are Unix sockets of the type that the provider uses. */
    static List<Integer> own() {
        List<Integer> found = new ArrayList<>();
        for (String name : new File("/proc/self/fd").list()) {
            int fd = Integer.parseInt(name);
            if (UnixSocket.isUnixSeqpacket(fd)) {
                found.add(fd);
            }
        }
        return found;
    }
}
