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
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketClientCompressionHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A chat room that uses compressed WebSockets. It uses Netty's codec in an ordinary pipeline on RPMA channels. */
@Command(name = "websocket", description = "A chat room on WebSockets: every client hears every message")
final class WebSocketExample implements Callable<Integer> {
    private static final String PATH = "/chat";
    private static final int LARGEST_MESSAGE = 1 << 20;

    @Mixin
    private CommonOptions common;

    @Option(names = "--clients", paramLabel = "N", defaultValue = "8", converter = AtLeastOne.class,
        description = "how many (default: ${DEFAULT-VALUE})")
    private int clients;

    @Option(names = "--messages", paramLabel = "N", defaultValue = "100", converter = AtLeastOne.class,
        description = "how many each of them says (default: ${DEFAULT-VALUE})")
    private int messages;

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0));
            List<Client> room = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                room.add(connect(group, (InetSocketAddress) server.localAddress()));
            }
            CommonOptions.print(server);
            for (int message = 0; message < messages; message++) {
                for (int i = 0; i < clients; i++) {
                    room.get(i).say("client " + i + ", message " + message);
                }
            }
            // The server forwards all messages in one order, but the messages of each client in the order in which the client
            // sent them.
            for (Client client : room) {
                int[] next = new int[clients];
                for (long i = 0; i < (long) clients * messages; i++) {
                    String heard = client.hear();
                    int speaker = Integer.parseInt(heard.substring("client ".length(), heard.indexOf(',')));
                    if (!heard.equals("client " + speaker + ", message " + next[speaker]++)) {
                        throw new IOException("out of order: " + heard);
                    }
                }
            }
            for (Client client : room) {
                client.leave();
            }
            System.out.println("clients=" + clients + " heard " + (long) clients * messages + " messages each, and left");
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address) throws InterruptedException {
        ChannelGroup room = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        WebSocketServerProtocolConfig config = WebSocketServerProtocolConfig.newBuilder()
            .websocketPath(PATH).allowExtensions(true).maxFramePayloadLength(LARGEST_MESSAGE).build();
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(LARGEST_MESSAGE),
                        new WebSocketServerCompressionHandler(LARGEST_MESSAGE), new WebSocketServerProtocolHandler(config),
                        new WebSocketFrameAggregator(LARGEST_MESSAGE), new Server(room));
                }
            })
            .bind(address).sync().channel();
    }

    /** Connects, and returns when the WebSocket handshake is complete. */
    static Client connect(EventLoopGroup group, InetSocketAddress server) throws Exception {
        return connect(group, server, PATH);
    }

    static Client connect(EventLoopGroup group, InetSocketAddress server, String path) throws Exception {
        WebSocketClientProtocolConfig config = WebSocketClientProtocolConfig.newBuilder()
            .webSocketUri(new URI("ws", null, server.getAddress().getHostAddress(), server.getPort(), path, null, null))
            .allowExtensions(true).maxFramePayloadLength(LARGEST_MESSAGE).build();
        Client client = new Client();
        new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(LARGEST_MESSAGE),
                        new WebSocketClientCompressionHandler(LARGEST_MESSAGE), new WebSocketClientProtocolHandler(config),
                        new WebSocketFrameAggregator(LARGEST_MESSAGE), client);
                }
            })
            .connect(server).sync();
        client.open.get(30, TimeUnit.SECONDS);
        return client;
    }

    /** Forwards each message to all clients in the room. */
    private static final class Server extends SimpleChannelInboundHandler<Object> {
        private final ChannelGroup room;

        Server(ChannelGroup room) {
            this.room = room;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
                room.add(ctx.channel());
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Object message) {
            if (message instanceof TextWebSocketFrame said) {
                room.writeAndFlush(said.retain());
            } else if (message instanceof FullHttpRequest) {
                // The request has another path than that of the room.
                FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND);
                HttpUtil.setContentLength(response, 0);
                ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
            } else {
                ctx.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.INVALID_MESSAGE_TYPE))
                    .addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("websocket server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }

    /** A client in the room. */
    static final class Client extends SimpleChannelInboundHandler<TextWebSocketFrame> {
        private final CompletableFuture<Void> open = new CompletableFuture<>();
        private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        private Channel channel;

        Channel channel() {
            return channel;
        }

        void say(String message) {
            channel.writeAndFlush(new TextWebSocketFrame(message));
        }

        String hear() throws Exception {
            String message = heard.poll(30, TimeUnit.SECONDS);
            if (message == null) {
                throw new IOException("nothing was heard for 30 s");
            }
            return message;
        }

        /** Sends a close frame, and waits until the server has answered it and closed the connection. */
        void leave() throws Exception {
            channel.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
            if (!channel.closeFuture().await(30, TimeUnit.SECONDS)) {
                throw new IOException("the server did not close within 30 s");
            }
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = ctx.channel();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                open.complete(null);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, TextWebSocketFrame message) {
            heard.add(message.text());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            open.completeExceptionally(new ClosedChannelException());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            open.completeExceptionally(cause);
            ctx.close();
        }
    }
}
