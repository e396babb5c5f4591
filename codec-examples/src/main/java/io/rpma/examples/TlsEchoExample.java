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
package io.rpma.examples;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sends a stream over TLS and receives its echo. It uses Netty's {@code SslHandler} in an ordinary pipeline on RPMA channels. */
@Command(name = "tls-echo", description = "A checked stream and its echo, through TLS")
final class TlsEchoExample implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--bytes", paramLabel = "SIZE", defaultValue = "32MiB",
        description = "length of the stream in either direction (default: ${DEFAULT-VALUE})")
    private ByteSize bytes;

    @Override
    public Integer call() throws Exception {
        X509Bundle certificate = selfSigned();
        SslContext serverTls = SslContextBuilder.forServer(certificate.toKeyManagerFactory())
            .sslProvider(SslProvider.JDK).build();
        SslContext clientTls = SslContextBuilder.forClient().trustManager(certificate.toTrustManagerFactory())
            .sslProvider(SslProvider.JDK).build();

        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0), serverTls);
            ChecksumHandler checksums = new ChecksumHandler();
            Channel client = connect(group, (InetSocketAddress) server.localAddress(), clientTls, checksums);
            CommonOptions.print(client);

            SSLSession session = client.pipeline().get(SslHandler.class).handshakeFuture().sync().getNow()
                .pipeline().get(SslHandler.class).engine().getSession();
            System.out.println("tls=" + session.getProtocol() + " " + session.getCipherSuite());

            long nanos = new StreamPhase(bytes.bytes(), new RandomBytes(1)).start(client).get(10, TimeUnit.MINUTES);
            EchoReport seen = client.eventLoop().submit(checksums::report).sync().getNow();
            boolean match = seen.sent() == seen.received() && seen.sentChecksum() == seen.receivedChecksum();
            System.out.println("sent=" + seen.sent() + " bytes");
            System.out.println("received=" + seen.received() + " bytes");
            System.out.printf("checksum=%08x %s%n", seen.receivedChecksum(), match ? "match" : "MISMATCH");
            System.out.println("throughput=" + ByteSize.mebibytes(bytes.bytes() * TimeUnit.SECONDS.toNanos(1) / nanos) + "/s");
            if (!match) {
                throw new IOException("what came back is not what was sent: " + seen);
            }
            client.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    static X509Bundle selfSigned() throws Exception {
        return new CertificateBuilder().subject("CN=localhost").addSanDnsName("localhost").setIsCertificateAuthority(true)
            .buildSelfSigned();
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address, SslContext tls) throws InterruptedException {
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(tls.newHandler(connection.alloc()), new Echo());
                }
            })
            .bind(address).sync().channel();
    }

    static Channel connect(EventLoopGroup group, InetSocketAddress server, SslContext tls, ChannelHandler application)
            throws InterruptedException {
        return new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(tls.newHandler(connection.alloc(), "localhost", server.getPort()), application);
                }
            })
            .connect(server).sync().channel();
    }

    /**
     * Sends back the received data, including the end of the client's TLS stream. It stops reading while the client does not
     * accept the data that is sent to it.
     */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslCloseCompletionEvent) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("tls echo server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }
}
