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

package io.rpma.agent.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.nio.NioSelectableChannelIoHandle;
import io.netty.channel.nio.NioTask;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The methods that only an event loop of NIO has, and channels of the JDK that are registered with it. */
public final class NioHandles {
    private NioHandles() {
    }

    /** Runs the program, and prints the results. */
    @SuppressWarnings("deprecation")
    public static void main(String[] arguments) throws Exception {
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        NioEventLoop loop = (NioEventLoop) group.next();
        System.out.println("result: provider " + (loop.selectorProvider() == SelectorProvider.provider()));
        loop.submit(loop::rebuildSelector).sync();
        group.rebuildSelectors();
        System.out.println("result: released " + closesWhileReady(loop));
        Pipe ofTask = pipe();
        CompletableFuture<String> taskRan = new CompletableFuture<>();
        loop.register(ofTask.source(), SelectionKey.OP_READ, new NioTask<Pipe.SourceChannel>() {
            @Override
            public void channelReady(Pipe.SourceChannel channel, SelectionKey key) {
                taskRan.complete("task read " + read(channel) + ", in the loop " + loop.inEventLoop());
            }

            @Override
            public void channelUnregistered(Pipe.SourceChannel channel, Throwable cause) {
                // Nothing has to be released.
            }
        });
        Pipe ofHandle = pipe();
        CompletableFuture<String> handleRan = new CompletableFuture<>();
        IoRegistration registration = loop.register(new NioSelectableChannelIoHandle<Pipe.SourceChannel>(ofHandle.source()) {
            @Override
            protected void handle(Pipe.SourceChannel channel, SelectionKey key) {
                handleRan.complete("handle read " + read(channel) + ", in the loop " + loop.inEventLoop());
            }

            @Override
            public void close() throws IOException {
                selectableChannel().close();
            }
        }).get();
        loop.submit(() -> registration.submit(NioIoOps.READ)).sync();
        echo(group);
        ofTask.sink().write(ByteBuffer.wrap(new byte[] {7}));
        ofHandle.sink().write(ByteBuffer.wrap(new byte[] {8}));
        System.out.println("result: " + taskRan.get(30, TimeUnit.SECONDS));
        System.out.println("result: " + handleRan.get(30, TimeUnit.SECONDS));
        System.out.println("result: cancelled " + loop.submit(registration::cancel).get() + ", valid " + registration.isValid());
        loop.submit(loop::rebuildSelector).sync();
        // With a quiet period, the loop closes its handles before it ends.
        group.shutdownGracefully(100, 10_000, TimeUnit.MILLISECONDS).sync();
        System.out.println("result: open " + ofTask.source().isOpen() + ' ' + ofHandle.source().isOpen());
        System.out.println("result: provider " + (loop.selectorProvider() == SelectorProvider.provider()));
    }

    /** Closes a channel from within its task. Returns whether the kernel's end of the pipe is closed too. */
    @SuppressWarnings("deprecation")
    private static boolean closesWhileReady(NioEventLoop loop) throws Exception {
        Pipe pipe = pipe();
        pipe.sink().configureBlocking(false);
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.register(pipe.source(), SelectionKey.OP_READ, new NioTask<Pipe.SourceChannel>() {
            @Override
            public void channelReady(Pipe.SourceChannel channel, SelectionKey key) throws IOException {
                channel.close();
                closed.complete(null);
            }

            @Override
            public void channelUnregistered(Pipe.SourceChannel channel, Throwable cause) {
                // Nothing has to be released.
            }
        });
        pipe.sink().write(ByteBuffer.wrap(new byte[] {9}));
        closed.get(30, TimeUnit.SECONDS);
        // The JDK closes the descriptor of a registered channel when its selector selects next.
        for (long start = System.nanoTime(); System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10);) {
            try {
                pipe.sink().write(ByteBuffer.wrap(new byte[] {9}));
            } catch (IOException e) {
                pipe.sink().close();
                return true;
            }
            loop.submit(() -> { }).sync();
        }
        return false;
    }

    private static Pipe pipe() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        return pipe;
    }

    private static int read(Pipe.SourceChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocate(1);
        try {
            channel.read(buffer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return buffer.get(0);
    }

    /** Uses channels on the same loop. */
    private static void echo(EventLoopGroup group) throws Exception {
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new NettyEcho.Echo());
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        CompletableFuture<Long> sum = new CompletableFuture<>();
        Channel client = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new NettyEcho.Sum(sum))
            .connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[NettyEcho.BYTES])).sync();
        System.out.println("result: sum " + sum.get(30, TimeUnit.SECONDS));
        System.out.println("channels: " + server.getClass().getSimpleName() + ", " + client.getClass().getSimpleName());
        client.close().sync();
        server.close().sync();
    }
}
