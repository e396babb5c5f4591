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
import io.netty.channel.ChannelHandlerContext;
import io.rpma.netty.RpmaMessageChannel;
import java.util.SplittableRandom;

/** A lane that sends messages, which must come back unchanged. */
final class MessageLane extends Lane {
    private final SplittableRandom random = new SplittableRandom();
    private long key;
    private int length;

    MessageLane(String name, Addresses addresses, RunDelay server, long restMillis) {
        super(name, RpmaMessageChannel.class, addresses.path(), addresses.message(), server, restMillis);
    }

    @Override
    void ask(Channel connected) {
        key = random.nextLong();
        length = random.nextInt(1, ServerMain.MESSAGE_BYTES + 1);
        connected.writeAndFlush(Pattern.write(connected.alloc().directBuffer(length), key, 0, length)).addListener(sent -> {
            if (!sent.isSuccess() && connected.isActive()) {
                connected.pipeline().fireExceptionCaught(sent.cause());
            }
        });
    }

    @Override
    void read(ChannelHandlerContext ctx, Object data) {
        ByteBuf bytes = (ByteBuf) data;
        int at = Pattern.mismatch(bytes, key, 0);
        if (at >= 0 || bytes.readableBytes() != length) {
            corrupted("byte " + at + " of a message, " + bytes.readableBytes() + " of " + length + " came");
            return;
        }
        answered();
    }
}
