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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Creates control messages of the software provider that consist of random bytes, or that are valid except for a few bytes. */
final class Garbage {
    private static final int MAGIC = 0x52504d53;
    private static final int KINDS = 10;
    private static final int TYPES = 12;
    private static final int[] EDGES = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 16, 4096};

    private final SplittableRandom random;
    private final short version;
    private final byte[] bytes = new byte[UnixSocket.MAX_BYTES];

    Garbage(SplittableRandom random, int version) {
        this.random = random;
        this.version = (short) version;
    }

    /** Returns the buffer with the message that {@link #next} has created. */
    byte[] bytes() {
        return bytes;
    }

    /**
     * Creates a message.
     *
     * @param descriptors how many descriptors will be sent with the message
     * @return the length of the message
     */
    int next(int descriptors) {
        int kind = random.nextInt(10);
        if (kind == 0) {
            int length = random.nextInt(0, 2500);
            random.nextBytes(bytes);
            return length;
        }
        ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        out.putInt(MAGIC).putShort(random.nextInt(20) == 0 ? (short) random.nextInt() : version)
            .putShort((short) random.nextInt(TYPES)).putInt(random.nextInt(10) == 0 ? edge() : descriptors);
        for (int i = 0; i < descriptors; i++) {
            out.putInt(random.nextInt(KINDS)).putInt(random.nextInt(4)).putLong(random.nextInt(4) == 0 ? random.nextLong()
                : random.nextInt(1, 64) * 4096L);
        }
        int words = random.nextInt(0, 40);
        for (int i = 0; i < words; i++) {
            out.putInt(switch (random.nextInt(3)) {
                case 0 -> edge();
                case 1 -> 1 << random.nextInt(20);
                default -> random.nextInt();
            });
        }
        if (kind < 3) {
            out.put(random.nextInt(out.position()), (byte) random.nextInt());
        }
        return out.position();
    }

    /** Creates a message that releases memory that nobody has. The server accepts it, and it has no effect. */
    int gone() {
        ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        out.putInt(MAGIC).putShort(version).putShort((short) 6).putInt(0);
        int pairs = random.nextInt(1, 30);
        for (int i = 0; i < pairs; i++) {
            out.putInt(random.nextInt(KINDS)).putInt(1 << 20 | random.nextInt());
        }
        return out.position();
    }

    /** Creates a message that asks the server to read the link. */
    int look() {
        ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        out.putInt(MAGIC).putShort(version).putShort((short) 8).putInt(0);
        return out.position();
    }

    private int edge() {
        return EDGES[random.nextInt(EDGES.length)];
    }
}
