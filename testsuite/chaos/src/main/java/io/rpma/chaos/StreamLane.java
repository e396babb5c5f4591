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
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaPath;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;

/** A lane that sends a stream in pieces of random lengths, whose bytes must come back. */
class StreamLane extends Lane {
    /** How many bytes of wrong data are shown. */
    private static final int SHOWN = 24;

    private final SplittableRandom random = new SplittableRandom();
    private final int shortest;
    private final int longest;
    private long key = random.nextLong();
    private long sent;
    private long received;

    StreamLane(String name, RpmaPath path, InetSocketAddress address, int shortest, int longest, RunDelay server,
            long restMillis) {
        super(name, RpmaChannel.class, path, address, server, restMillis);
        this.shortest = shortest;
        this.longest = longest;
    }

    @Override
    void ask(Channel connected) {
        int length = random.nextInt(shortest, longest + 1);
        long position = sent;
        sent += length;
        connected.writeAndFlush(Pattern.write(connected.alloc().directBuffer(length), key, position, length),
            connected.voidPromise());
    }

    @Override
    void read(ChannelHandlerContext ctx, Object data) {
        ByteBuf bytes = (ByteBuf) data;
        int at = Pattern.mismatch(bytes, key, received);
        if (at >= 0 || received + bytes.readableBytes() > sent) {
            corrupted("byte " + (received + at) + " of a stream, " + bytes.readableBytes() + " came, " + (sent - received)
                + " were to come" + (at < 0 ? "" : "; found " + found(bytes, at)));
            return;
        }
        received += bytes.readableBytes();
        if (received == sent) {
            complete();
        }
    }

    private static String found(ByteBuf bytes, int at) {
        int index = bytes.readerIndex() + at;
        return ByteBufUtil.hexDump(bytes, index, Math.min(bytes.writerIndex() - index, SHOWN)) + " at " + at;
    }

    void complete() {
        answered();
    }

    @Override
    void forget() {
        key = random.nextLong();
        sent = 0;
        received = 0;
    }
}
