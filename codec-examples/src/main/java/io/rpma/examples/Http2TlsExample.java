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
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.pkitesting.X509Bundle;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * An HTTP/2 server and client over TLS that negotiate HTTP/2 by ALPN. They use Netty's codecs in ordinary pipelines on RPMA
 * channels. The TLS implementation is BoringSSL (the artifact netty-tcnative-boringssl-static) or that of the JDK. The server
 * handler of {@link HttpExample} answers the requests of HTTP/2 streams, and those of clients that only support HTTP/1.1.
 */
@Command(name = "http2-tls", description = "An HTTP/2 server and client through TLS, agreed on by ALPN")
final class Http2TlsExample implements Callable<Integer> {
    private static final int LARGEST_BODY = 16 << 20;
    /** How many streams of a client Netty's server permits at a time, unless it is configured otherwise. */
    private static final int MOST_STREAMS = 100;

    @Spec
    private CommandSpec spec;

    @Mixin
    private CommonOptions common;

    @Option(names = "--tls", paramLabel = "NAME", defaultValue = "boringssl",
        description = "boringssl or jdk (default: ${DEFAULT-VALUE})")
    private Tls tls;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "1000", converter = AtLeastOne.class,
        description = "how many (default: ${DEFAULT-VALUE})")
    private int requests;

    @Option(names = "--at-once", paramLabel = "N", defaultValue = "100", converter = AtLeastOne.class,
        description = "how many to send before their answers are waited for, at most 100 (default: ${DEFAULT-VALUE})")
    private int atOnce;

    /** The TLS implementation. */
    enum Tls {
        BORINGSSL(SslProvider.OPENSSL),
        JDK(SslProvider.JDK);

        private final SslProvider provider;

        Tls(SslProvider provider) {
            this.provider = provider;
        }

        SslContext server(X509Bundle certificate) throws Exception {
            return withAlpn(SslContextBuilder.forServer(certificate.toKeyManagerFactory()),
                ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);
        }

        SslContext client(X509Bundle trusted, String... protocols) throws Exception {
            return withAlpn(SslContextBuilder.forClient().trustManager(trusted.toTrustManagerFactory()), protocols);
        }

        private SslContext withAlpn(SslContextBuilder builder, String... protocols) throws IOException {
            return builder.sslProvider(provider)
                .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(new ApplicationProtocolConfig(ApplicationProtocolConfig.Protocol.ALPN,
                    ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                    ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT, protocols))
                .build();
        }
    }

    @Override
    public Integer call() throws Exception {
        if (atOnce > MOST_STREAMS) {
            throw new ParameterException(spec.commandLine(), "--at-once " + atOnce + ": at most " + MOST_STREAMS
                + ", because the server refuses more streams at a time");
        }
        X509Bundle certificate = TlsEchoExample.selfSigned();
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0), tls.server(certificate));
            Channel connection = connect(group, (InetSocketAddress) server.localAddress(),
                tls.client(certificate, ApplicationProtocolNames.HTTP_2));
            CommonOptions.print(connection);
            SslHandler handler = connection.pipeline().get(SslHandler.class);
            handler.handshakeFuture().sync();
            System.out.println("tls=" + handler.engine().getSession().getProtocol() + " of " + tls);
            System.out.println("protocol=" + handler.applicationProtocol());
            for (int first = 0; first < requests; first += atOnce) {
                List<CompletableFuture<String>> answers = new ArrayList<>();
                for (int i = first; i < Math.min(requests, first + atOnce); i++) {
                    answers.add(send(connection, HttpMethod.GET, "/hello/" + i, ""));
                }
                for (int i = 0; i < answers.size(); i++) {
                    String answer = answers.get(i).get(30, TimeUnit.SECONDS);
                    if (!answer.equals("200 OK: GET /hello/" + (first + i))) {
                        throw new IOException("GET /hello/" + (first + i) + " was answered by '" + answer + "'");
                    }
                }
            }
            System.out.println("requests=" + requests + " all answered, on one connection, " + atOnce + " at once");
            connection.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address, SslContext tls) throws InterruptedException {
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(tls.newHandler(connection.alloc()), new ByProtocol());
                }
            })
            .bind(address).sync().channel();
    }

    /** Completes the server's pipeline after TLS has negotiated a protocol. */
    private static final class ByProtocol extends ApplicationProtocolNegotiationHandler {
        ByProtocol() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                ctx.pipeline().addLast(Http2FrameCodecBuilder.forServer().build(),
                    new Http2MultiplexHandler(new ChannelInitializer<Http2StreamChannel>() {
                        @Override
                        protected void initChannel(Http2StreamChannel stream) {
                            stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true),
                                new HttpObjectAggregator(LARGEST_BODY), new HttpExample.Server());
                        }
                    }));
            } else {
                ctx.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(LARGEST_BODY), new HttpExample.Server());
            }
        }

        @Override
        protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("http2-tls server: the handshake with " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }

    /** Connects and prepares the connection for HTTP/2. */
    static Channel connect(EventLoopGroup group, InetSocketAddress server, SslContext tls) throws InterruptedException {
        return connect(group, server, tls, Http2FrameCodecBuilder.forClient().build(),
            // Streams of the server need no handler, because the server opens none.
            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
    }

    static Channel connect(EventLoopGroup group, InetSocketAddress server, SslContext tls, ChannelHandler... application)
            throws InterruptedException {
        return new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(tls.newHandler(connection.alloc(), "localhost", server.getPort()))
                        .addLast(application);
                }
            })
            .connect(server).sync().channel();
    }

    /** Sends a request on a new stream. */
    static CompletableFuture<String> send(Channel connection, HttpMethod method, String path, String body) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        new Http2StreamChannelBootstrap(connection)
            .handler(new ChannelInitializer<Http2StreamChannel>() {
                @Override
                protected void initChannel(Http2StreamChannel stream) {
                    stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false),
                        new HttpObjectAggregator(LARGEST_BODY), new Answer(answer));
                }
            })
            .open().addListener(opened -> {
                if (opened.isSuccess()) {
                    ((Channel) opened.getNow()).writeAndFlush(HttpExample.request(connection, method, path, body));
                } else {
                    answer.completeExceptionally(opened.cause());
                }
            });
        return answer;
    }

    /** Waits for the single response of a stream. */
    private static final class Answer extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final CompletableFuture<String> answer;

        Answer(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            answer.complete(response.status() + ": " + response.content().toString(StandardCharsets.UTF_8));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            answer.completeExceptionally(new ClosedChannelException());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            answer.completeExceptionally(cause);
            ctx.close();
        }
    }
}
