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

package io.rpma.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.stream.BulkAreas;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A server whose clients connect with random private data, send random messages and disconnect, while a neighbour on the same
 * event loop continuously exchanges verified data with it. {@link StreamFuzz}, which is a thousand times faster, tests the effect
 * of the messages on a stream. This class tests whole connections, with their memory and their descriptors.
 *
 * <p>The same seed generates the same messages. As a program: {@code ConnectionFuzz [SEED [CONNECTIONS]]}.
 */
final class ConnectionFuzz {
    private static final int WARM_UP = 50;
    private static final int MOST_MESSAGES = 24;
    private static final int CREDITS = 16;

    private final SplittableRandom random;
    private final InetSocketAddress server;
    private long frames;
    private long refused;

    private ConnectionFuzz(InetSocketAddress server, long seed) {
        this.server = server;
        random = new SplittableRandom(seed);
    }

    /** Sends numbers and checks that they come back in order. It sends each number as soon as the previous one has come back. */
    private static final class Neighbour extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<Long> done = new CompletableFuture<>();
        private long next;
        private long longest;
        private long sent = System.nanoTime();
        private volatile boolean stopping;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            sent = System.nanoTime();
            ctx.writeAndFlush(ctx.alloc().directBuffer(Long.BYTES).writeLong(next));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf msg) {
            if (msg.readableBytes() != Long.BYTES || msg.readLong() != next) {
                done.completeExceptionally(new AssertionError("the neighbour got other bytes than it sent"));
                return;
            }
            longest = Math.max(longest, System.nanoTime() - sent);
            next++;
            if (stopping) {
                done.complete(longest);
                ctx.close();
            } else {
                send(ctx);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.completeExceptionally(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            done.completeExceptionally(new AssertionError("the neighbour's connection has ended"));
        }
    }

    /** Connects, sends random messages, and disconnects. */
    private void connection(RawPeer peer) throws RpmaException {
        boolean greets = random.nextInt(4) > 0;
        ByteBuffer handshake = new Handshake(Handshake.MINOR, 0, 16 << 10, CREDITS, 1 << 20, RawPeer.isPrefixed(),
            ByteBuffer.allocate(0)).encode();
        if (!greets) {
            for (int flips = 1 + random.nextInt(8); flips > 0; flips--) {
                handshake.put(random.nextInt(handshake.limit()), (byte) random.nextInt());
            }
            handshake.limit(random.nextInt(handshake.limit() + 1));
        }
        try {
            ConnectionEvent event = peer.connect(server, handshake.hasRemaining() ? handshake : null);
            if (event != ConnectionEvent.ESTABLISHED || !greets) {
                refused++;
                return;
            }
            for (int messages = 1 + random.nextInt(MOST_MESSAGES); messages > 0; messages--) {
                message(peer, messages);
                frames++;
            }
        } catch (RpmaException e) {
            // The server has closed the connection in the meantime, which is correct.
            refused++;
        } finally {
            peer.disconnect();
        }
    }

    private void message(RawPeer peer, int left) throws RpmaException {
        if (left > 1 && random.nextInt(8) > 0) {
            int large = random.nextInt(16) == 0 ? random.nextInt(32) : 0;
            peer.send(1 + random.nextInt(1000), Immediate.of(Immediate.DATA, 0, large));
            return;
        }
        int immediate = random.nextBoolean() ? random.nextInt()
            : Immediate.of(1 + random.nextInt(6), random.nextInt(4), random.nextInt(8));
        switch (random.nextInt(4)) {
            case 0 -> peer.sendPlain(random.nextInt(1, 2000));
            case 1 -> peer.write(null, 0, immediate);
            case 2 -> {
                ByteBuffer descriptor = peer.descriptor();
                byte[] grant = ByteBuffer.allocate(1 + descriptor.remaining()).put((byte) random.nextInt(10)).put(descriptor)
                    .array();
                for (int flips = random.nextInt(4); flips > 0; flips--) {
                    grant[random.nextInt(grant.length)] = (byte) random.nextInt();
                }
                peer.send(grant, Immediate.of(Immediate.GRANT, 0));
            }
            default -> peer.send(random.nextInt(16 << 10), immediate);
        }
    }

    private static long descriptors() {
        String[] open = new File("/proc/self/fd").list();
        return open.length;
    }

    private static void awaitEmpty(ChannelGroup channels) {
        channels.newCloseFuture().awaitUninterruptibly(20, TimeUnit.SECONDS);
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final ChannelGroup channels;

        Echo(ChannelGroup channels) {
            this.channels = channels;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channels.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The peer has violated a rule, and its connection is closed.
        }
    }

    /** Runs as a program in a separate process, because the remaining resources of the whole process are counted. */
    public static void main(String... arguments) throws Exception {
        long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : System.nanoTime();
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10_000;
        System.out.println("SEED " + seed);
        ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        RpmaEventLoopGroup serving = new RpmaEventLoopGroup(1);
        RpmaEventLoopGroup connecting = new RpmaEventLoopGroup(1);
        // A shared receive queue keeps some receives for future connections, so not all memory would be released.
        Channel listener = new ServerBootstrap().group(serving).channel(RpmaServerChannel.class).childHandler(new Echo(clients))
            .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        Neighbour neighbour = new Neighbour();
        new Bootstrap().group(connecting).channel(RpmaChannel.class).option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false)
            .handler(neighbour).connect(address).sync();
        ConnectionFuzz fuzz = new ConnectionFuzz(address, seed);
        long nanos = 0;
        long descriptors = 0;
        try (RawPeer peer = new RawPeer()) {
            for (int i = 0; i < WARM_UP + count; i++) {
                if (i == WARM_UP) {
                    descriptors = descriptors();
                    fuzz.frames = 0;
                    nanos = System.nanoTime();
                }
                fuzz.connection(peer);
            }
            nanos = System.nanoTime() - nanos;
            neighbour.stopping = true;
            long longest = neighbour.done.get(60, TimeUnit.SECONDS);
            awaitEmpty(clients);
            System.out.printf("NEIGHBOUR exchanged=%d longest=%d us%n", neighbour.next, TimeUnit.NANOSECONDS.toMicros(longest));
            System.out.printf("PLAYED connections=%d refused=%d frames=%d connections/s=%.0f frames/s=%.0f%n", count,
                fuzz.refused, fuzz.frames, count * 1e9 / nanos, fuzz.frames * 1e9 / nanos);
            System.out.println("DESCRIPTORS " + (descriptors() - descriptors));
        }
        listener.close().sync();
        serving.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        connecting.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        System.out.println("LEFT "
            + (BulkAreas.bytes() + RegisteredMemory.MAX_BYTES - StreamFuzz.allMemory()));
        System.exit(0);
    }
}
