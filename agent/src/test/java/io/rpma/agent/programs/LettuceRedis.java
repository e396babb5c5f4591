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

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.BulkStringRedisContent;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A typical use of Lettuce, and a server with the commands of Redis that it needs. */
public final class LettuceRedis {
    private static final int KEYS = 20;
    private static final int BYTES = 50_000;

    private LettuceRedis() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Map<String, byte[]> table = new HashMap<>();
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new RedisDecoder(), new RedisBulkStringAggregator(),
                        new RedisArrayAggregator(64, 4), new RedisEncoder(), new Commands(table));
                }
            }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + ((InetSocketAddress) server.localAddress()).getPort());
        client.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
        long sum = 0;
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            for (int i = 0; i < KEYS; i++) {
                connection.sync().set("key " + i, ("value " + i + ' ').repeat(BYTES / 10));
            }
            for (int i = 0; i < KEYS; i++) {
                sum = sum * 31 + connection.sync().get("key " + i).hashCode();
            }
        }
        System.out.println("result: sum " + sum);
        client.shutdown(0, 10, TimeUnit.SECONDS);
        server.close().sync();
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    /** A table of strings. */
    private static final class Commands extends SimpleChannelInboundHandler<ArrayRedisMessage> {
        private final Map<String, byte[]> table;

        Commands(Map<String, byte[]> table) {
            this.table = table;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ArrayRedisMessage command) {
            String name = text(command, 0).toUpperCase(Locale.ROOT);
            RedisMessage answer = switch (name) {
                case "SET" -> {
                    ByteBuf value = ((BulkStringRedisContent) command.children().get(2)).content();
                    byte[] bytes = new byte[value.readableBytes()];
                    value.readBytes(bytes);
                    table.put(text(command, 1), bytes);
                    yield new SimpleStringRedisMessage("OK");
                }
                case "GET" -> new FullBulkStringRedisMessage(Unpooled.wrappedBuffer(table.get(text(command, 1))));
                case "PING" -> new SimpleStringRedisMessage("PONG");
                case "CLIENT" -> new SimpleStringRedisMessage("OK");
                default -> new ErrorRedisMessage("ERR unknown command '" + name + "'");
            };
            context.writeAndFlush(answer);
        }

        private static String text(ArrayRedisMessage command, int index) {
            return ((BulkStringRedisContent) command.children().get(index)).content().toString(StandardCharsets.UTF_8);
        }
    }
}
