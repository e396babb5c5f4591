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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FileRegion;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.NetUtil;
import io.netty.util.ResourceLeakDetectorFactory;

import java.io.File;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The other process of {@link CrossProcessTest}, with one server for each behaviour. It prints {@code port NAME NUMBER} for each
 * server, and further lines about what happens to the connections. It ends when its standard input ends, and prints the number of
 * leaks at the end.
 */
final class ChildServer {
    private static final byte[] GREETING = {42};

    private final EventLoopGroup group = TestTransport.CURRENT.newGroup(2, "child");

    private ChildServer() {
    }

    public static void main(String[] arguments) throws Exception {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new CountingLeakDetectors());
        ChildServer server = new ChildServer();
        server.bindAll(new File(arguments[0]));
        say("ready");
        while (System.in.read() >= 0) {
            // No input is expected. The end of the input ends this process, also if the parent dies.
        }
        server.group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        CountingLeakDetectors.drain().forEach(leak -> say("leak " + leak.replace('\n', ' ')));
        say("end");
    }

    private void bindAll(File file) throws Exception {
        bind("echo", pipeline -> pipeline.addLast(new EchoHandler()));
        bind("digest", pipeline -> pipeline.addLast(new Digest()));
        bind("speak-first", pipeline -> pipeline.addLast(new SpeakFirst(), new Digest()));
        bind("file", pipeline -> pipeline.addLast(new SendsRegion(file, false)));
        bind("custom-file", pipeline -> pipeline.addLast(new SendsRegion(file, true)));
        bind("reset", pipeline -> pipeline.addLast(new ClosesWhenTold(true)));
        bind("close", pipeline -> pipeline.addLast(new ClosesWhenTold(false)));
        bind("witness", pipeline -> pipeline.addLast(new Witness()));
        for (SslProvider provider : new SslProvider[] {SslProvider.JDK, SslProvider.OPENSSL}) {
            X509Bundle bundle = new CertificateBuilder().subject("CN=localhost").setIsCertificateAuthority(true)
                .buildSelfSigned();
            SslContext context = SslContextBuilder.forServer(bundle.toKeyManagerFactory()).sslProvider(provider).build();
            bind("tls-" + provider, pipeline -> pipeline.addLast(context.newHandler(pipeline.channel().alloc()),
                new EchoHandler()));
        }
    }

    private void bind(String name, Consumer<ChannelPipeline> fill) throws InterruptedException {
        Channel channel = new ServerBootstrap().group(group).channel(TestTransport.CURRENT.serverChannel())
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    fill.accept(ch.pipeline());
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        say("port " + name + ' ' + ((InetSocketAddress) channel.localAddress()).getPort());
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** Checks a {@link Pattern} up to its end, prints its length, answers with that number and closes. */
    private static final class Digest extends SimpleChannelInboundHandler<ByteBuf> {
        private long checked;

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            Pattern.check(data, checked);
            checked += data.readableBytes();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownReadComplete) {
                say("digest " + checked);
                if (((SocketChannel) ctx.channel()).isOutputShutdown()) {
                    ctx.close();
                } else {
                    ctx.writeAndFlush(ctx.alloc().buffer(Long.BYTES).writeLong(checked))
                        .addListener(ChannelFutureListener.CLOSE);
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            say("digest failed: " + cause);
            ctx.close();
        }
    }

    /** Sends a greeting and ends its own stream before it has received anything. */
    private static final class SpeakFirst extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            ctx.writeAndFlush(ctx.alloc().buffer(GREETING.length).writeBytes(GREETING))
                .addListener(sent -> ((SocketChannel) ctx.channel()).shutdownOutput());
            super.channelActive(ctx);
        }
    }

    /** Sends its file once, and closes. */
    private static final class SendsRegion extends ChannelInboundHandlerAdapter {
        private final File file;
        private final boolean custom;

        SendsRegion(File file, boolean custom) {
            this.file = file;
            this.custom = custom;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            FileRegion region = new DefaultFileRegion(file, 0, file.length());
            ctx.writeAndFlush(custom ? new WrappedFileRegion(region) : region).addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            say("file failed: " + cause);
            ctx.close();
        }
    }

    /** Closes the connection when the first byte arrives, by a reset or in order. */
    private static final class ClosesWhenTold extends SimpleChannelInboundHandler<ByteBuf> {
        private final boolean reset;

        ClosesWhenTold(boolean reset) {
            this.reset = reset;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            if (reset) {
                ((SocketChannelConfig) ctx.channel().config()).setSoLinger(0);
            }
            ctx.close();
        }
    }

    /** Sends a greeting, and prints how its connection ended. */
    private static final class Witness extends ChannelInboundHandlerAdapter {
        private Throwable seen;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().buffer(GREETING.length).writeBytes(GREETING));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownReadComplete) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            seen = cause;
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            say("witness " + (seen == null ? "end of stream" : seen.getClass().getSimpleName() + ' ' + seen.getMessage()));
        }
    }
}
