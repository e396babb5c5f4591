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

package io.rpma.chaos;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaOperation;
import io.rpma.netty.RpmaRemoteRegion;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.SplittableRandom;

/**
 * A lane for one-sided operations. It writes to the server's region and reads the data back, and also sends a few bytes over the
 * stream and receives them back.
 */
final class RegionLane extends StreamLane {
    /** The size of the server's region in bytes. */
    static final int BYTES = 1 << 20;
    private static final int LONGEST = 64 << 10;

    private final SplittableRandom random = new SplittableRandom();
    private final RpmaRemoteRegion region;

    RegionLane(String name, Addresses addresses, RunDelay server, long restMillis) throws Exception {
        super(name, addresses.path(), addresses.stream(), 1, 64, server, restMillis);
        region = RpmaRemoteRegion.open(ByteBuffer.wrap(HexFormat.of().parseHex(addresses.region())));
    }

    @Override
    void ask(Channel connected) {
        long key = random.nextLong();
        int length = random.nextInt(1, LONGEST + 1);
        int offset = random.nextInt(BYTES - length + 1);
        ByteBuf source = Pattern.write(RpmaByteBufAllocator.DEFAULT.directBuffer(length), key, offset, length);
        connected.writeAndFlush(RpmaOperation.write(source, region, offset)).addListener(written -> {
            if (isWell(connected, written)) {
                ByteBuf target = RpmaByteBufAllocator.DEFAULT.directBuffer(length);
                connected.writeAndFlush(RpmaOperation.read(region, offset, length, target)).addListener(
                    done -> check(connected, done, target, key, offset, length));
            }
        });
    }

    private void check(Channel connected, Future<?> done, ByteBuf target, long key, int offset, int length) {
        try {
            if (isWell(connected, done)) {
                if (target.readableBytes() != length || Pattern.mismatch(target, key, offset) >= 0) {
                    corrupted("byte " + Pattern.mismatch(target, key, offset) + " of " + target.readableBytes() + " of a region");
                } else {
                    super.ask(connected);
                }
            }
        } finally {
            target.release();
        }
    }

    private static boolean isWell(Channel connected, Future<?> done) {
        if (!done.isSuccess() && connected.isActive()) {
            connected.pipeline().fireExceptionCaught(done.cause());
        }
        return done.isSuccess();
    }
}
