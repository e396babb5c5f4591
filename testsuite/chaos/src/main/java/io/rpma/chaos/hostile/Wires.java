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
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Sends arbitrary bytes and frames to the ports of the provider {@code tcp}, stops reading, and acknowledges or refuses what the
 * server may not have sent. Every message that the server returns must consist of the bytes that this process has sent: others
 * would be those of another connection. A request that this process has no permission for must be refused.
 */
final class Wires implements Attack {
    private static final byte FILL = 0x5a;
    private static final int MESSAGE = 4096;
    private static final int MOST_READS = 128;
    /** The number of attempts of which at least one must have had an effect. */
    private static final int ENOUGH = 10;
    private static final int[] EDGES = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 16, 1 << 30, (1 << 30) + 1};

    private static final String[] FORBIDDEN = {"a read beyond the end of the region", "a read before the start of the region",
        "a read with a wrong key", "a write beyond the end of the region", "a write before the start of the region",
        "an atomic write beyond the end of the region", "a flush of a region that does not permit it",
        "a message that is longer than the receive"};

    private SplittableRandom random;
    private Addresses addresses;
    private long regionAddress;
    private long regionSize;
    private long regionKey;
    private long sent;
    private int honest;
    private int refused;
    private int requests;
    private int valid;
    private int ended;
    private int forbidden;
    private int unanswered;
    private int onceUnanswered;
    private long returned;
    private long onceReturned;

    @Override
    public void run(Addresses of, SplittableRandom from, long end) throws Exception {
        addresses = of;
        random = from;
        ByteBuffer descriptor = ByteBuffer.wrap(HexFormat.of().parseHex(of.region())).order(ByteOrder.LITTLE_ENDIAN);
        regionAddress = descriptor.getLong();
        regionSize = descriptor.getLong();
        regionKey = descriptor.getInt() & 0xffff_ffffL;
        Report.say("ready");
        do {
            switch (random.nextInt(8)) {
                case 0 -> silent();
                case 1 -> requests();
                case 2 -> frames();
                case 3 -> reads();
                case 4, 5 -> forbidden();
                default -> answers();
            }
            Report.say("count " + sent);
            sent = 0;
        } while (System.nanoTime() < end);
        report();
    }

    /** Reports what this process has done, and what has had no effect although it was done several times. */
    private void report() {
        Report.say("did " + requests + " requests, " + valid + " connections with frames, " + ended + " with too many reads, "
            + forbidden + " with a forbidden request, " + unanswered + " with unanswered messages, of which " + returned
            + " came back, and " + onceUnanswered + " with those that are sent once, of which " + onceReturned + " came back");
        if (honest == 0 && refused > ENOUGH) {
            Report.say("wrong none of " + refused + " honest connections of this process worked");
        }
        if (unanswered > ENOUGH && returned == 0 || onceUnanswered > ENOUGH && onceReturned == 0) {
            Report.say("wrong none of the messages of this process came back");
        }
    }

    private InetSocketAddress port() {
        return random.nextBoolean() ? addresses.stream() : addresses.message();
    }

    /** Opens connections that say nothing. */
    private void silent() {
        List<TcpPeer> open = new ArrayList<>();
        InetSocketAddress to = port();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(new TcpPeer(to));
                sent++;
            }
        } catch (IOException e) {
            // The server currently accepts no more connections.
            refused++;
        }
        open.forEach(Wires::close);
    }

    /** Sends requests that are wrong, incomplete, or too long. */
    private void requests() {
        for (int i = 0; i < 20; i++) {
            try (TcpPeer peer = new TcpPeer(port())) {
                byte[] request = peer.request();
                switch (random.nextInt(4)) {
                    case 0 -> random.nextBytes(request);
                    case 1 -> request = Arrays.copyOf(request, random.nextInt(request.length));
                    case 2 -> request = Arrays.copyOf(request, request.length + random.nextInt(1, 10_000));
                    default -> request[random.nextInt(request.length)] = (byte) random.nextInt();
                }
                peer.write(request);
                sent++;
                requests++;
                if (random.nextBoolean()) {
                    peer.reset();
                }
            } catch (IOException e) {
                // The server has closed the connection, or currently accepts no more connections. Both are correct.
                continue;
            }
        }
    }

    private static void close(TcpPeer peer) {
        try {
            peer.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens an established connection for messages, or returns {@code null}. */
    private TcpPeer connect() throws IOException {
        TcpPeer peer = null;
        try {
            peer = new TcpPeer(addresses.message());
            peer.establish();
            honest++;
            return peer;
        } catch (IOException e) {
            refused++;
            if (peer != null) {
                peer.close();
            }
            return null;
        }
    }

    /** Sends frames of which some are valid, and then one that the server must not accept. */
    private void frames() throws IOException {
        try (TcpPeer peer = connect()) {
            if (peer == null) {
                return;
            }
            valid++;
            int number = 1;
            try {
                for (int i = random.nextInt(1, 60); i > 0; i--) {
                    byte[] frame = frame(number++);
                    if (random.nextInt(20) == 0) {
                        // The field of the payload's length may be among them.
                        frame[random.nextInt(TcpPeer.HEADER)] = (byte) random.nextInt();
                    }
                    peer.write(frame);
                    sent++;
                }
                switch (random.nextInt(4)) {
                    case 0 -> peer.write(Arrays.copyOf(frame(number), random.nextInt(TcpPeer.HEADER + MESSAGE)));
                    case 1 -> peer.reset();
                    case 2 -> peer.shutdown();
                    default -> {
                        // More than a message may have to be filled before the server sees the type.
                        for (int i = 0; i < 3 * MESSAGE / TcpPeer.HEADER; i++) {
                            peer.write(TcpPeer.frame(TcpPeer.UNKNOWN, 0, 0, 0, 0, 0, 0, 0, 0));
                        }
                    }
                }
            } catch (SocketTimeoutException e) {
                Report.say("wrong the server does not read");
            } catch (IOException e) {
                // The server has ended the connection because of an invalid frame.
                return;
            }
        }
    }

    /** Returns a request, or an answer, that may be valid. Valid writes have no effect on memory that others use. */
    private byte[] frame(int number) {
        int bytes = random.nextInt(MESSAGE);
        long inside = regionAddress + random.nextLong(regionSize);
        int acknowledged = random.nextInt(10) == 0 ? edge() : 0;
        return switch (random.nextInt(8)) {
            case 0 -> TcpPeer.frame(TcpPeer.READ, 0, bytes, number, acknowledged, inside, regionKey, 0, 0);
            case 1 -> TcpPeer.frame(TcpPeer.WRITE, 0, bytes, number, acknowledged, regionAddress + regionSize - bytes + 1,
                regionKey, 0, bytes, FILL);
            case 2 -> TcpPeer.frame(TcpPeer.WRITE, 1, bytes, number, acknowledged, random.nextLong(), regionKey ^ 1L << bytes,
                random.nextInt(), bytes, FILL);
            case 3 -> TcpPeer.frame(TcpPeer.FLUSH, 0, edge(), number, acknowledged, inside, regionKey, edge(), 0);
            case 4 -> TcpPeer.frame(random.nextInt(TcpPeer.READ_DATA, TcpPeer.RESUME + 1), 0, edge(), edge(), acknowledged,
                inside, regionKey, random.nextInt(30), 0);
            default -> TcpPeer.frame(TcpPeer.SEND, random.nextInt(8), bytes, number, acknowledged, 0, 0, 0, bytes, FILL);
        };
    }

    private int edge() {
        return random.nextInt(3) == 0 ? random.nextInt(200) : EDGES[random.nextInt(EDGES.length)];
    }

    /** Requests more reads than a side may have unanswered, and reads no answer. */
    private void reads() throws IOException {
        try (TcpPeer peer = connect()) {
            if (peer == null) {
                return;
            }
            int bytes = (int) Math.min(regionSize, 1 << 16);
            try {
                for (int number = 1; number <= 4 * MOST_READS; number++) {
                    peer.write(TcpPeer.frame(TcpPeer.READ, 0, bytes, number, 0, regionAddress, regionKey, 0, 0));
                    sent++;
                }
            } catch (SocketTimeoutException e) {
                Report.say("wrong the server does not read");
                return;
            } catch (IOException e) {
                // The server has ended the connection because of the reads.
                return;
            }
            ended++;
            end(peer, "too many unanswered reads");
        }
    }

    /**
     * Sends one request whose region, bounds, usage or length is not permitted, and expects that it is refused. It is a valid
     * frame otherwise, so only this check can reject it. Without it, an access that the usage forbids, or a message that is a
     * little too long, would destroy nothing that the neighbours notice.
     */
    private void forbidden() throws IOException {
        try (TcpPeer peer = connect()) {
            if (peer == null) {
                return;
            }
            long end = regionAddress + regionSize;
            int bytes = random.nextInt(1, 9);
            int kind = random.nextInt(FORBIDDEN.length);
            byte[] request = switch (kind) {
                case 0 -> TcpPeer.frame(TcpPeer.READ, 0, bytes, 1, 0, end - bytes + 1, regionKey, 0, 0);
                case 1 -> TcpPeer.frame(TcpPeer.READ, 0, bytes, 1, 0, regionAddress - 1, regionKey, 0, 0);
                case 2 -> TcpPeer.frame(TcpPeer.READ, 0, bytes, 1, 0, regionAddress, regionKey ^ 1L << random.nextInt(64), 0, 0);
                case 3 -> TcpPeer.frame(TcpPeer.WRITE, TcpPeer.WANTED, bytes, 1, 0, end - bytes + 1, regionKey, 0, bytes, FILL);
                case 4 -> TcpPeer.frame(TcpPeer.WRITE, TcpPeer.WANTED, bytes, 1, 0, regionAddress - 1, regionKey, 0, bytes, FILL);
                case 5 -> TcpPeer.frame(TcpPeer.ATOMIC_WRITE, TcpPeer.WANTED, 0, 1, 0, end - 7, regionKey, 0, 0);
                case 6 -> TcpPeer.frame(TcpPeer.FLUSH, TcpPeer.WANTED, bytes, 1, 0, regionAddress, regionKey, 0, 0);
                default -> TcpPeer.frame(TcpPeer.SEND, TcpPeer.WANTED, MESSAGE + 1, 1, 0, 0, 0, 0, MESSAGE + 1, FILL);
            };
            forbidden++;
            try {
                peer.write(request);
                sent++;
                int answer = peer.next();
                // A message may also find no receive, because the other connections have taken all of them.
                if (answer != TcpPeer.NAK && answer != TcpPeer.NOT_READY) {
                    Report.say("wrong " + FORBIDDEN[kind] + " was answered by a frame of the type " + answer);
                }
            } catch (IOException e) {
                Report.say("wrong " + FORBIDDEN[kind] + " was not refused: " + e);
            }
        }
    }

    /**
     * Sends messages without reading those that come back, and meanwhile answers them in ways that are sometimes too early. What
     * the server then sends must not come from memory that it has given to another connection.
     */
    private void answers() throws IOException {
        try (TcpPeer peer = connect()) {
            if (peer == null) {
                return;
            }
            boolean once = random.nextBoolean();
            if (sendAndAnswer(peer, once ? TcpPeer.WANTED | TcpPeer.ONCE : TcpPeer.WANTED)) {
                end(peer, "a frame of an unknown type");
            }
            if (once) {
                onceUnanswered++;
                onceReturned += peer.messages();
            } else {
                unanswered++;
                returned += peer.messages();
            }
        }
    }

    /** Returns whether the server reads what this process sends, or has ended the connection. */
    private boolean sendAndAnswer(TcpPeer peer, int flags) {
        int most = random.nextInt(1, 3000);
        int acknowledged = 0;
        int bold = random.nextInt(2, 200);
        try {
            for (int number = 1; number <= most; number++) {
                if (random.nextInt(bold) == 0) {
                    // The server may have sent none or only a part of this message.
                    acknowledged = number - 1;
                } else if (acknowledged < number - 40) {
                    acknowledged += random.nextInt(3);
                }
                peer.write(TcpPeer.frame(TcpPeer.SEND, flags, MESSAGE, number, acknowledged, 0, 0, 0, MESSAGE, FILL));
                sent++;
                if (random.nextInt(bold) == 0) {
                    answer(peer, random.nextInt(acknowledged, number + 1), acknowledged);
                }
            }
            peer.write(TcpPeer.frame(TcpPeer.UNKNOWN, 0, 0, 0, acknowledged, 0, 0, 0, 0));
            return true;
        } catch (SocketTimeoutException e) {
            Report.say("wrong the server does not read");
            return false;
        } catch (IOException e) {
            // The server has ended the connection. What it has sent before can perhaps still be read.
            return true;
        }
    }

    private void answer(TcpPeer peer, int number, int acknowledged) throws IOException {
        int type = switch (random.nextInt(8)) {
            case 0 -> TcpPeer.NAK;
            case 1, 2, 3 -> TcpPeer.NOT_READY;
            case 4, 5 -> TcpPeer.RESUME;
            default -> TcpPeer.ACK;
        };
        int status = type == TcpPeer.NAK ? random.nextInt(25) : 0;
        peer.write(TcpPeer.frame(type, random.nextInt(4), 0, number, acknowledged, 0, 0, status, 0));
        sent++;
    }

    private static void foreign(long bytes) {
        if (bytes > 0) {
            Report.say("wrong " + bytes + " bytes came that this connection has not sent");
        }
    }

    /** Reads what the server has sent, and checks that it has ended the connection. */
    private static void end(TcpPeer peer, String why) {
        try {
            foreign(peer.readToTheEnd(FILL));
        } catch (IOException e) {
            Report.say("wrong the connection goes on after " + why);
        }
    }
}
