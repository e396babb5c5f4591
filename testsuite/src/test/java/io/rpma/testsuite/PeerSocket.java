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
package io.rpma.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Takes the place of the {@link java.net.Socket} in the suite: a blocking peer that uses the transport under test and a loop of
 * its own. As a socket does, it keeps its direction open when the other side ends its own.
 */
final class PeerSocket {
    static final EventLoopGroup GROUP = TestTransport.CURRENT.newGroup(2, "peer");

    private static final int LIMIT_SECONDS = 20;
    private static final Object END_OF_STREAM = new Object();

    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private SocketChannel channel;

    /** Returns the handler that passes received data to this peer. It is for one channel. */
    ChannelInboundHandlerAdapter handler() {
        return new Receiver();
    }

    void attach(Channel accepted) {
        channel = (SocketChannel) accepted;
    }

    void connect(SocketAddress address) throws IOException {
        ChannelFuture connected = new Bootstrap().group(GROUP).channel(TestTransport.CURRENT.channel())
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 30_000)
            .handler(handler()).connect(address);
        await(connected);
        attach(connected.channel());
    }

    void write(int data) throws IOException {
        await(channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {(byte) data})));
    }

    /**
     * Waits for the next byte.
     *
     * @return 0 to 255, or -1 at the end of the stream
     * @throws IOException if the channel has failed, or neither a byte nor the end was received in time
     */
    int read() throws IOException {
        Object next;
        try {
            next = received.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (next instanceof Byte b) {
            return Byte.toUnsignedInt(b);
        }
        if (next == null) {
            throw new IOException("neither a byte nor the end of the stream was received in " + LIMIT_SECONDS + " s");
        }
        // Further reads must return the same, so the end or the failure stays in the queue.
        received.add(next);
        if (next instanceof Throwable cause) {
            throw new IOException(cause);
        }
        return -1;
    }

    void shutdownOutput() throws IOException {
        await(channel.shutdownOutput());
    }

    void close() throws IOException {
        if (channel != null) {
            await(channel.close());
        }
    }

    private static void await(ChannelFuture future) throws IOException {
        try {
            if (!future.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("not done in " + LIMIT_SECONDS + " s: " + future);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause());
        }
    }

    private static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IOException(e);
    }

    private final class Receiver extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf data = (ByteBuf) msg;
            while (data.isReadable()) {
                received.add(data.readByte());
            }
            data.release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownReadComplete) {
                received.add(END_OF_STREAM);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            received.add(END_OF_STREAM);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            received.add(cause);
        }
    }
}
