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
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.rpma.netty.RpmaRegion;
import io.rpma.netty.RpmaWritten;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * The end whose memory is read and written. Between runs it follows orders, and during some runs it counts messages or sends them
 * back.
 */
final class OneSidedServerHandler extends ChannelInboundHandlerAdapter {
    private final MemorySegment memory;
    private final int creditEvery;
    private OneSidedOrder running;
    private long count;
    private ByteBuf last;

    /**
     * Creates a handler for one connection.
     *
     * @param region the memory that the peer reads and writes
     * @param creditEvery the number of messages after which the peer is notified that their receives have been posted again
     */
    OneSidedServerHandler(RpmaRegion region, int creditEvery) {
        memory = region.memory();
        this.creditEvery = creditEvery;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof RpmaWritten written) {
            count(ctx, written.immediate() & 0xffffffffL, written.bytes());
        } else if (running == null) {
            ByteBuf order = (ByteBuf) message;
            try {
                obey(ctx, OneSidedOrder.read(order));
            } finally {
                order.release();
            }
        } else {
            run(ctx, (ByteBuf) message);
        }
    }

    private void obey(ChannelHandlerContext ctx, OneSidedOrder order) {
        switch (order.task()) {
            case FILL -> {
                Pattern.fill(memory.asSlice(0, order.bytes()), order.seed());
                answer(ctx, 0, 0);
            }
            case SUM -> answer(ctx, 0, Pattern.checksum(memory.asSlice(0, order.bytes())));
            case COUNT, ECHO -> {
                running = order;
                count = 0;
                answer(ctx, 0, 0);
            }
            default -> throw new IllegalStateException("unknown: " + order);
        }
    }

    private void run(ChannelHandlerContext ctx, ByteBuf message) {
        long number = message.getLong(0);
        if (number == OneSidedOrder.END) {
            message.release();
            CRC32C sum = new CRC32C();
            if (last != null) {
                sum.update(last.nioBuffer());
                last.release();
                last = null;
            }
            running = null;
            answer(ctx, count, (int) sum.getValue());
        } else if (running.task() == OneSidedOrder.Task.ECHO) {
            count++;
            ctx.writeAndFlush(message);
        } else {
            if (last != null) {
                last.release();
            }
            last = message;
            count(ctx, number, message.readableBytes());
        }
    }

    private void count(ChannelHandlerContext ctx, long number, int bytes) {
        if (running == null || number != (count & 0xffffffffL) || bytes != running.bytes()) {
            throw new IllegalStateException("number " + number + " with " + bytes + " bytes has come as number " + count + " of "
                + running);
        }
        count++;
        if (count % creditEvery == 0) {
            ctx.writeAndFlush(ctx.alloc().directBuffer(Long.BYTES).writeLong(count));
        }
    }

    private static void answer(ChannelHandlerContext ctx, long count, int sum) {
        ctx.writeAndFlush(ctx.alloc().directBuffer(OneSidedOrder.ANSWER_BYTES).writeLong(count).writeInt(sum));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // The stack trace goes to the log of this process. The client's run fails because the connection closes.
        cause.printStackTrace();
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        if (last != null) {
            last.release();
            last = null;
        }
        super.channelInactive(ctx);
    }
}
