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
package io.rpma.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.atomic.LongAdder;

/** The server's end of a connection. It checks every message and sends it back unchanged. */
final class SoakEchoHandler extends ServerHandler {
    private final SoakMessage format;
    private final LongAdder checked;
    private int connection;
    private long next;

    /**
     * Creates a handler.
     *
     * @param bytes the size of a message in bytes
     * @param checked counts the correct messages of all connections
     */
    SoakEchoHandler(int bytes, LongAdder checked) {
        format = new SoakMessage(bytes);
        this.checked = checked;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        if (next == 0) {
            connection = format.connection(buffer);
        }
        try {
            format.check(buffer, connection, next);
        } catch (IllegalStateException e) {
            buffer.release();
            throw e;
        }
        next++;
        checked.increment();
        ctx.write(buffer, ctx.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }
}
