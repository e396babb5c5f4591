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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

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
    /** How long the server may take to end a connection. It closes a connection that is silent after 15 s, or on soft 2.5 s. */
    private static final long END_MILLIS = Rpma.provider().name().equals("soft") ? 2_000 : 12_000;
    /** The number of attempts of which at least one must have had an effect. */
    private static final int ENOUGH = 3;
    /** How long to wait for an end that need not come. */
    private static final long PERHAPS_MILLIS = 100;
    /** The violation that is none if the server grants new credits in time. */
    private static final int PERHAPS_NONE = 0;
    private static final byte[] HANDSHAKE = {0x4e, 0x52, 0x50, 0x4d, 1, 1, 0, 0, 0, 0, 0x40, 0, 0, 16, 0, 16};

    private SplittableRandom random;
    private RawPeer peer;
    private int handshakes;
    private int committed;
    private int interrupted;
    private int ended;
    private int requested;
    private int granted;
    private int next;
    /** Whether the violation is a write outside an area. */
    private boolean outside;
    private List<Integer> order = List.of();

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
        Report.say("did " + handshakes + " handshakes and " + committed + " violations, of which " + interrupted
            + " ended during the sends, and the server ended " + ended + "; it granted " + granted + " of " + requested
            + " areas");
        if (requested >= ENOUGH && granted == 0) {
            Report.say("wrong the server has granted none of " + requested + " areas");
        }
    }

    /** Returns the next violation: each of them once, in any order, before one is repeated. */
    private int next() {
        if (next == order.size()) {
            List<Integer> all = new ArrayList<>(IntStream.range(0, violations.size()).boxed().toList());
            for (int i = all.size(); i > 1; i--) {
                Collections.swap(all, i - 1, random.nextInt(i));
            }
            order = all;
            next = 0;
        }
        return order.get(next++);
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
        handshakes++;
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
        int which = next();
        outside = false;
        committed++;
        try {
            violations.get(which).commit();
            peer.poll();
        } catch (RpmaException e) {
            // The server has closed the connection during the sends, which the next event reports.
            interrupted++;
        }
        boolean mustEnd = which != PERHAPS_NONE && !outside;
        if (peer.isEnded(mustEnd ? END_MILLIS : PERHAPS_MILLIS)) {
            ended++;
        } else if (mustEnd) {
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
        requested++;
        peer.send(10, immediate(DATA, 0, 2));
        for (int i = 0; i < 50 && peer.grant() == null; i++) {
            peer.poll();
        }
        byte[] grant = peer.grant();
        if (grant != null) {
            granted++;
            try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(grant, 1, grant.length - 1))) {
                switch (random.nextInt(3)) {
                    case 0 -> peer.write(area, 0, 100, immediate(BULK, 0, 0));
                    case 1 -> writeOutside(area, area.size() - 50);
                    default -> writeOutside(area, area.size() + 4096);
                }
            }
        }
        peer.send(0, immediate(15, 0, 0));
    }

    /** The end of this process refuses such a write, or fails when the server has refused it: the server need not notice. */
    private void writeOutside(RemoteMemoryRegion area, long offset) throws RpmaException {
        outside = true;
        peer.write(area, offset, 100, immediate(BULK, 0, 0));
        long last = System.nanoTime() + END_MILLIS * 1_000_000;
        boolean refused = !peer.poll();
        while (!refused && System.nanoTime() < last) {
            refused = !peer.poll();
        }
        if (!refused) {
            Report.say("wrong a write to the place " + offset + " of an area of " + area.size() + " bytes is not refused");
        }
    }
}
