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
import io.rpma.netty.RpmaRemoteRegion;
import io.rpma.netty.StreamDecoders;
import io.rpma.soft.ControlDecoders;
import java.io.File;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** Passes garbage to the decoders of everything that a peer sends, within this process: millions of frames and messages. */
final class Frames implements Attack {
    private static final int BATCH = 20_000;
    private static final int MAX_BYTES = 300;
    private static final byte[] HANDSHAKE = {0x4e, 0x52, 0x50, 0x4d, 1, 1, 0, 0, 0, 0, 0x40, 0, 0, 16, 0, 16};

    private final byte[] bytes = new byte[MAX_BYTES];

    @Override
    public void run(Addresses addresses, SplittableRandom random, long end) throws Exception {
        boolean soft = io.rpma.Rpma.provider().name().equals("soft");
        int[] pair = UnixSocket.pair();
        int file = UnixSocket.memoryFile(4096, 0);
        int version = soft ? ListenerNames.version(ListenerNames.of(addresses.streamPort()).getFirst()) : 2;
        Garbage garbage = new Garbage(random, version);
        boolean warm = false;
        long messages = 0;
        long attempts = 0;
        long refused = 0;
        long batches = 0;
        Report.say("ready");
        do {
            int before = new File("/proc/self/fd").list().length;
            for (int i = 0; i < BATCH; i++) {
                int what = random.nextInt(8);
                try {
                    switch (what) {
                        case 0, 1 -> {
                            attempts++;
                            messages += control(pair, file, garbage, random);
                        }
                        case 2 -> ControlDecoders.end(random(random));
                        case 3 -> ControlDecoders.hello(random(random).array(), random.nextInt(MAX_BYTES));
                        case 4, 5 -> StreamDecoders.handshake(handshake(random));
                        default -> descriptor(random);
                    }
                } catch (ProtocolException e) {
                    // The decoder rejects garbage with this exception, as intended.
                    refused++;
                    if (e.getMessage().isEmpty()) {
                        Report.say("wrong a refusal without a reason");
                    }
                } catch (RuntimeException | Error e) {
                    Report.say("wrong decoder " + what + " fails: " + e);
                    e.printStackTrace();
                }
            }
            Report.say("count " + BATCH);
            int after = new File("/proc/self/fd").list().length;
            // The first batch also opens the descriptors that class loading needs, so it is not checked.
            if (after > before && warm) {
                Report.say("wrong the decoders leave " + (after - before) + " descriptors open");
            }
            warm = true;
            batches++;
        } while (System.nanoTime() < end);
        Report.say("did " + batches + " batches with " + messages + " control messages; " + refused + " values were refused");
        if (messages < attempts) {
            Report.say("wrong only " + messages + " of " + attempts + " control messages could be sent");
        }
        if (refused == 0 || refused == batches * BATCH) {
            Report.say("wrong the decoders have refused nothing or everything");
        }
    }

    /** Returns the number of messages that the decoder was given. */
    private static int control(int[] pair, int file, Garbage garbage, SplittableRandom random) {
        int count = random.nextInt(8) == 0 ? random.nextInt(1, 9) : 0;
        int[] descriptors = new int[count];
        java.util.Arrays.fill(descriptors, file);
        if (UnixSocket.send(pair[0], garbage.bytes(), garbage.next(count), descriptors) == 0) {
            ControlDecoders.message(pair[1]);
            return 1;
        }
        return 0;
    }

    private ByteBuffer random(SplittableRandom random) {
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
            for (int i = 0; i < MAX_BYTES; i++) {
                bytes[i] = (byte) (bytes[i] & 3);
            }
        }
        return ByteBuffer.wrap(bytes, 0, random.nextInt(MAX_BYTES)).order(java.nio.ByteOrder.nativeOrder());
    }

    private static ByteBuffer handshake(SplittableRandom random) {
        byte[] handshake = HANDSHAKE.clone();
        for (int i = random.nextInt(4); i > 0; i--) {
            handshake[random.nextInt(handshake.length)] = (byte) random.nextInt();
        }
        return ByteBuffer.wrap(handshake, 0, random.nextInt(10) == 0 ? random.nextInt(17) : 16);
    }

    private void descriptor(SplittableRandom random) throws ProtocolException {
        ByteBuffer data = random(random);
        if (data.remaining() > 20 && random.nextBoolean()) {
            data.putLong(0, random.nextLong(1L << 47)).putLong(8, random.nextLong(1L << 20));
        }
        RpmaRemoteRegion.open(data).release();
    }
}
