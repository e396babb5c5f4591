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
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.chaos.Addresses;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Violates the rules of the stream protocol, one rule per connection: in the handshake, in immediate data, with credits, and with
 * areas for large data. The server must close the connection, unless the peer only sends valid data.
 */
final class Violations implements Attack {
    private static final int DATA = 1;
    private static final int CREDIT = 2;
    private static final int FIN = 3;
    private static final int GRANT = 4;
    private static final int BULK = 5;
    private static final int RETURN = 6;
    private static final long END_MILLIS = 20_000;
    private static final byte[] HANDSHAKE = {0x4e, 0x52, 0x50, 0x4d, 1, 1, 0, 0, 0, 0, 0x40, 0, 0, 16, 0, 16};

    private SplittableRandom random;
    private RawPeer peer;

    private interface Violation {
        void commit() throws RpmaException;
    }

    private final List<Violation> violations = List.of(
        () -> many(40, 1, DATA, 0, 0),
        () -> many(1, 0, CREDIT, random.nextInt(1, 4096), 0),
        () -> peer.writeNothing(immediate(BULK, 0, 0)),
        () -> peer.writeNothing(immediate(DATA, 0, 0)),
        () -> many(1, random.nextInt(1, 100), BULK, 0, 0),
        () -> many(1, 0, RETURN, 0, random.nextInt(1 << 16)),
        () -> many(1, random.nextInt(0, 21), GRANT, 0, 0),
        this::grantGarbage,
        this::grantTwice,
        this::writeToGrant,
        () -> many(1, random.nextInt(0, 100), random.nextInt(7, 16), random.nextInt(4096), random.nextInt(1 << 16)),
        () -> many(1, 0, 0, random.nextInt(4096), 0),
        () -> peer.sendPlain(random.nextInt(1, 1000)),
        () -> many(1, 0, DATA, 0, 0),
        () -> {
            many(1, 0, FIN, 0, 0);
            many(2, 1, DATA, 0, 0);
        },
        () -> {
            for (int i = 0; i < 12; i++) {
                peer.send(random.nextInt(0, 200), random.nextInt());
            }
        });

    @Override
    public void run(Addresses addresses, SplittableRandom from, long end) throws Exception {
        random = from;
        peer = new RawPeer(addresses.stream());
        Report.say("ready");
        do {
            int frames = 1;
            if (random.nextInt(3) == 0) {
                handshake(addresses);
            } else {
                frames = violate(addresses);
            }
            peer.close();
            Report.say("count " + frames);
        } while (System.nanoTime() < end);
    }

    private void handshake(Addresses addresses) throws RpmaException {
        byte[] handshake = HANDSHAKE.clone();
        if (random.nextInt(4) == 0) {
            random.nextBytes(handshake);
        } else {
            // The fields that the server reads: magic, version, status, sizes, credits, areas.
            int[] places = {0, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15};
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                handshake[places[random.nextInt(places.length)]] = (byte) random.nextInt();
            }
        }
        if (peer.connect(addresses.stream(), ByteBuffer.wrap(handshake)) == null) {
            Report.say("wrong no answer to the handshake " + Arrays.toString(handshake));
        }
    }

    private int violate(Addresses addresses) throws RpmaException {
        ConnectionEvent event = peer.connect(addresses.stream(), ByteBuffer.wrap(HANDSHAKE));
        if (event != ConnectionEvent.ESTABLISHED) {
            Report.say("wrong a right handshake was answered by " + event);
            return 1;
        }
        int which = random.nextInt(violations.size());
        try {
            violations.get(which).commit();
            peer.poll();
        } catch (RpmaException e) {
            // The server has closed the connection during the sends.
            return 1;
        }
        if (!peer.isEnded(END_MILLIS)) {
            Report.say("wrong the connection goes on after violation " + which);
        }
        return 1;
    }

    private static int immediate(int kind, int credits, int argument) {
        return kind << 28 | credits << 16 | argument;
    }

    private void many(int count, int bytes, int kind, int credits, int argument) throws RpmaException {
        for (int i = 0; i < count; i++) {
            peer.send(bytes, immediate(kind, credits, argument));
            if (i % 16 == 15 && !peer.poll()) {
                return;
            }
        }
    }

    private void grantGarbage() throws RpmaException {
        byte[] garbage = new byte[random.nextInt(1, 60)];
        random.nextBytes(garbage);
        peer.send(garbage, immediate(GRANT, 0, 0));
        peer.send(garbage, immediate(9, 0, 0));
    }

    private void grantTwice() throws RpmaException {
        byte[] descriptor = peer.descriptor();
        byte[] twice = ByteBuffer.allocate(1 + descriptor.length).put((byte) random.nextInt(8)).put(descriptor).array();
        peer.send(twice, immediate(GRANT, 0, 0));
        peer.poll();
        peer.send(twice, immediate(GRANT, 0, 0));
    }

    /** Requests an area, and then writes beyond its end, writes to the wrong place in it, or announces more data than it has. */
    private void writeToGrant() throws RpmaException {
        peer.send(10, immediate(DATA, 0, 2));
        for (int i = 0; i < 50 && peer.grant() == null; i++) {
            peer.poll();
        }
        byte[] grant = peer.grant();
        if (grant != null) {
            try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(grant, 1, grant.length - 1))) {
                switch (random.nextInt(3)) {
                    case 0 -> peer.write(area, 0, 100, immediate(BULK, 0, 0));
                    case 1 -> peer.write(area, area.size() - 50, 100, immediate(BULK, 0, 0));
                    default -> peer.write(area, area.size() + 4096, 100, immediate(BULK, 0, 0));
                }
            }
        }
        peer.send(0, immediate(15, 0, 0));
    }
}
