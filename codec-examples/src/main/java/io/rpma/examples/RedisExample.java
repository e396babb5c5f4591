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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.IntegerRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A key-value server and its client that use the Redis protocol. They use Netty's codec in an ordinary pipeline on RPMA channels.
 */
@Command(name = "redis", description = "A server that speaks Redis's protocol, and its client")
final class RedisExample implements Callable<Integer> {
    private static final int MAX_WORDS = 1024;
    private static final int MAX_DEPTH = 8;

    @Mixin
    private CommonOptions common;

    @Option(names = "--keys", paramLabel = "N", defaultValue = "10000", converter = AtLeastOne.class,
        description = "how many to set and get (default: ${DEFAULT-VALUE})")
    private int keys;

    @Option(names = "--pipeline", paramLabel = "N", defaultValue = "100", converter = AtLeastOne.class,
        description = "how many commands to send before their answers are waited for (default: ${DEFAULT-VALUE})")
    private int pipeline;

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0));
            Client client = connect(group, (InetSocketAddress) server.localAddress());
            CommonOptions.print(client.channel());
            for (int first = 0; first < keys; first += pipeline) {
                List<CompletableFuture<String>> answers = new ArrayList<>();
                int end = Math.min(keys, first + pipeline);
                for (int i = first; i < end; i++) {
                    answers.add(client.send("SET", "key:" + i, "value " + i));
                    answers.add(client.send("GET", "key:" + i));
                }
                client.flush();
                for (int i = first; i < end; i++) {
                    expect("OK", answers.get(2 * (i - first)));
                    expect("value " + i, answers.get(2 * (i - first) + 1));
                }
            }
            expect(Integer.toString(keys), client.sendAndFlush("DBSIZE"));
            System.out.println("keys=" + keys + " set and got, on one connection");
            client.channel().close().sync();
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    private static void expect(String expected, CompletableFuture<String> answer) throws Exception {
        String got = answer.get(30, TimeUnit.SECONDS);
        if (!expected.equals(got)) {
            throw new IOException("expected '" + expected + "', and got '" + got + "'");
        }
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address) throws InterruptedException {
        Map<String, byte[]> store = new ConcurrentHashMap<>();
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new RedisEncoder(), new RedisDecoder(), new RedisBulkStringAggregator(),
                        new RedisArrayAggregator(MAX_WORDS, MAX_DEPTH), new Server(store));
                }
            })
            .bind(address).sync().channel();
    }

    static Client connect(EventLoopGroup group, InetSocketAddress server) throws InterruptedException {
        Client client = new Client();
        new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new RedisEncoder(), new RedisDecoder(), new RedisBulkStringAggregator(),
                        new RedisArrayAggregator(MAX_WORDS, MAX_DEPTH), client);
                }
            })
            .connect(server).sync();
        return client;
    }

    /** Executes commands. Each command is an array of bulk strings. */
    private static final class Server extends SimpleChannelInboundHandler<RedisMessage> {
        private final Map<String, byte[]> store;

        Server(Map<String, byte[]> store) {
            this.store = store;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RedisMessage message) {
            if (message instanceof ArrayRedisMessage array && !array.children().isEmpty()
                    && array.children().stream().allMatch(FullBulkStringRedisMessage.class::isInstance)) {
                ctx.write(answer(array.children().stream()
                    .map(word -> ByteBufUtil.getBytes(((FullBulkStringRedisMessage) word).content())).toList()));
            } else {
                goodbye(ctx, "ERR Protocol error: expected a command, which is an array of bulk strings");
            }
        }

        private RedisMessage answer(List<byte[]> words) {
            String command = text(words.getFirst()).toUpperCase(Locale.ROOT);
            String key = words.size() > 1 ? text(words.get(1)) : null;
            return switch (command + "/" + (words.size() - 1)) {
                case "PING/0" -> new SimpleStringRedisMessage("PONG");
                case "DBSIZE/0" -> new IntegerRedisMessage(store.size());
                case "GET/1" -> bulk(store.get(key));
                case "DEL/1" -> new IntegerRedisMessage(store.remove(key) == null ? 0 : 1);
                case "SET/2" -> {
                    store.put(key, words.get(2));
                    yield new SimpleStringRedisMessage("OK");
                }
                default -> new ErrorRedisMessage("ERR unknown command, or wrong number of arguments: '" + command + "' with "
                    + (words.size() - 1));
            };
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        private static RedisMessage bulk(byte[] value) {
            return value == null ? FullBulkStringRedisMessage.NULL_INSTANCE
                : new FullBulkStringRedisMessage(Unpooled.wrappedBuffer(value));
        }

        /** Flushes the answers to all commands that arrived together. */
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            goodbye(ctx, "ERR Protocol error: " + cause.getMessage());
        }

        private static void goodbye(ChannelHandlerContext ctx, String error) {
            ctx.writeAndFlush(new ErrorRedisMessage(error)).addListener(ChannelFutureListener.CLOSE);
        }
    }

    /** Sends commands, and assigns each answer to its command. Redis sends the answers in the order of the commands. */
    static final class Client extends SimpleChannelInboundHandler<RedisMessage> {
        private final Queue<CompletableFuture<String>> unanswered = new ArrayDeque<>();
        private ChannelHandlerContext context;

        Channel channel() {
            return context.channel();
        }

        /**
         * Sends a command without flushing it. Any thread may call this method. The future completes with the answer, or with
         * {@code null} for a null of Redis.
         */
        CompletableFuture<String> send(String... words) {
            List<RedisMessage> bulks = new ArrayList<>();
            for (String word : words) {
                bulks.add(new FullBulkStringRedisMessage(ByteBufUtil.writeUtf8(context.alloc(), word)));
            }
            CompletableFuture<String> answer = expect();
            context.write(new ArrayRedisMessage(bulks)).addListener(written -> {
                if (!written.isSuccess()) {
                    answer.completeExceptionally(written.cause());
                }
            });
            return answer;
        }

        /** Returns a future for the next answer that no other future waits for. */
        CompletableFuture<String> expect() {
            CompletableFuture<String> answer = new CompletableFuture<>();
            context.executor().execute(() -> unanswered.add(answer));
            return answer;
        }

        CompletableFuture<String> sendAndFlush(String... words) {
            CompletableFuture<String> answer = send(words);
            flush();
            return answer;
        }

        void flush() {
            context.flush();
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RedisMessage message) {
            unanswered.remove().complete(text(message));
        }

        private static String text(RedisMessage message) {
            return switch (message) {
                case FullBulkStringRedisMessage bulk -> bulk.isNull() ? null : bulk.content().toString(StandardCharsets.UTF_8);
                case SimpleStringRedisMessage simple -> simple.content();
                case IntegerRedisMessage integer -> Long.toString(integer.value());
                case ErrorRedisMessage error -> error.content();
                default -> message.toString();
            };
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
