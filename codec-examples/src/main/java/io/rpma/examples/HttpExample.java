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
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** An HTTP/1.1 server and client. They use Netty's codec in an ordinary pipeline on RPMA channels. */
@Command(name = "http",
    description = "An HTTP/1.1 server and client: keep-alive, compression, chunks")
final class HttpExample implements Callable<Integer> {
    private static final int LARGEST_BODY = 16 << 20;

    @Mixin
    private CommonOptions common;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "1000", converter = AtLeastOne.class,
        description = "how many (default: ${DEFAULT-VALUE})")
    private int requests;

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0));
            Client client = new Client();
            Channel connection = connect(group, (InetSocketAddress) server.localAddress(), client);
            CommonOptions.print(connection);
            for (int i = 0; i < requests; i++) {
                String path = "/hello/" + i;
                FullHttpResponse response = client.send(request(connection, HttpMethod.GET, path, "")).get(30, TimeUnit.SECONDS);
                String answer = response.status() + ": " + response.content().toString(StandardCharsets.UTF_8);
                response.release();
                if (!answer.equals("200 OK: GET " + path)) {
                    throw new IOException("GET " + path + " was answered by '" + answer + "'");
                }
            }
            System.out.println("requests=" + requests + " all answered, on one connection");

            FullHttpRequest text = request(connection, HttpMethod.POST, "/", "compressible ".repeat(100_000));
            text.headers().set(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.GZIP);
            BodyCounter counter = connection.pipeline().get(BodyCounter.class);
            long before = counter.bytes;
            FullHttpResponse response = client.send(text).get(30, TimeUnit.SECONDS);
            System.out.println("compressed=" + response.content().readableBytes() + " bytes came as "
                + (counter.bytes - before) + ", in chunks");
            response.release();
            connection.close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address) throws InterruptedException {
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpServerCodec(), new HttpContentCompressor(),
                        new HttpObjectAggregator(LARGEST_BODY), new Server());
                }
            })
            .bind(address).sync().channel();
    }

    static Channel connect(EventLoopGroup group, InetSocketAddress server, Client client) throws InterruptedException {
        return new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpClientCodec(), new BodyCounter(), new HttpContentDecompressor(0),
                        new HttpObjectAggregator(LARGEST_BODY), client);
                }
            })
            .connect(server).sync().channel();
    }

    static FullHttpRequest request(Channel connection, HttpMethod method, String path, String body) {
        ByteBuf content = connection.alloc().buffer();
        content.writeCharSequence(body, StandardCharsets.UTF_8);
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, path, content);
        request.headers().set(HttpHeaderNames.HOST, "localhost");
        HttpUtil.setContentLength(request, content.readableBytes());
        return request;
    }

    /** Counts the bytes of the bodies as they were transferred, whether compressed or not. */
    static final class BodyCounter extends ChannelInboundHandlerAdapter {
        volatile long bytes;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof HttpContent content) {
                bytes += content.content().readableBytes();
            }
            ctx.fireChannelRead(message);
        }
    }

    /** Answers every request with the method, path and body of the request. */
    static final class Server extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            ByteBuf content = ctx.alloc().buffer();
            content.writeCharSequence(request.method() + " " + request.uri(), StandardCharsets.UTF_8);
            content.writeBytes(request.content());
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content);
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN);
            HttpUtil.setContentLength(response, content.readableBytes());
            boolean keepAlive = HttpUtil.isKeepAlive(request);
            HttpUtil.setKeepAlive(response, keepAlive);
            ctx.writeAndFlush(response).addListener(keepAlive ? ChannelFutureListener.CLOSE_ON_FAILURE
                : ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("http server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }

    /** Assigns each response to its request. HTTP/1.1 sends the responses in the order of the requests. */
    static final class Client extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final Queue<CompletableFuture<FullHttpResponse>> unanswered = new ArrayDeque<>();
        private ChannelHandlerContext context;

        /** Sends a request. Any thread may call this method. The caller must release the response. */
        CompletableFuture<FullHttpResponse> send(FullHttpRequest request) {
            CompletableFuture<FullHttpResponse> answer = expect();
            context.writeAndFlush(request).addListener(written -> {
                if (!written.isSuccess()) {
                    answer.completeExceptionally(written.cause());
                }
            });
            return answer;
        }

        /** Returns a future for the next response that no other future waits for. */
        CompletableFuture<FullHttpResponse> expect() {
            CompletableFuture<FullHttpResponse> answer = new CompletableFuture<>();
            context.executor().execute(() -> unanswered.add(answer));
            return answer;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            unanswered.remove().complete(response.retain());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            unanswered.forEach(answer -> answer.completeExceptionally(new ClosedChannelException()));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            unanswered.forEach(answer -> answer.completeExceptionally(cause));
            ctx.close();
        }
    }
}
