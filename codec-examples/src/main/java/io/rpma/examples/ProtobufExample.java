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

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.protobuf.ProtobufDecoder;
import io.netty.handler.codec.protobuf.ProtobufEncoder;
import io.netty.handler.codec.protobuf.ProtobufVarint32FrameDecoder;
import io.netty.handler.codec.protobuf.ProtobufVarint32LengthFieldPrepender;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.DoubleSummaryStatistics;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * A service that receives numbers and returns statistics about them as protocol buffers. It uses Netty's codec in an ordinary
 * pipeline on RPMA channels. The messages are well-known types of protobuf-java, so that no code has to be generated. In an
 * application, the types of its own {@code .proto} files take their place.
 */
@Command(name = "protobuf", description = "A statistics service that speaks protocol buffers")
final class ProtobufExample implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "1000", converter = AtLeastOne.class,
        description = "how many, the k-th with k numbers (default: ${DEFAULT-VALUE})")
    private int requests;

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            Channel server = startServer(group, new InetSocketAddress("127.0.0.1", 0));
            Client client = new Client();
            Channel connection = connect(group, (InetSocketAddress) server.localAddress(), client);
            CommonOptions.print(connection);
            for (int k = 1; k <= requests; k++) {
                Struct statistics = client.ask(IntStream.rangeClosed(1, k).asDoubleStream()).get(30, TimeUnit.SECONDS);
                double mean = statistics.getFieldsOrThrow("mean").getNumberValue();
                if (mean != (k + 1) / 2.0) {
                    throw new IOException("the mean of 1 to " + k + " is not " + mean);
                }
            }
            System.out.println("requests=" + requests + " all answered, on one connection");
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
                    connection.pipeline().addLast(
                        new ProtobufVarint32FrameDecoder(), new ProtobufDecoder(ListValue.getDefaultInstance()),
                        new ProtobufVarint32LengthFieldPrepender(), new ProtobufEncoder(), new Server());
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
                    connection.pipeline().addLast(
                        new ProtobufVarint32FrameDecoder(), new ProtobufDecoder(Struct.getDefaultInstance()),
                        new ProtobufVarint32LengthFieldPrepender(), new ProtobufEncoder(), client);
                }
            })
            .connect(server).sync().channel();
    }

    /** Answers a list of numbers with statistics about them. */
    private static final class Server extends SimpleChannelInboundHandler<ListValue> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ListValue numbers) {
            DoubleSummaryStatistics statistics = numbers.getValuesList().stream()
                .mapToDouble(Value::getNumberValue).summaryStatistics();
            ctx.write(Struct.newBuilder()
                .putFields("count", number(statistics.getCount()))
                .putFields("sum", number(statistics.getSum()))
                .putFields("mean", number(statistics.getAverage()))
                .build());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("protobuf server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }

    private static Value number(double value) {
        return Value.newBuilder().setNumberValue(value).build();
    }

    /** Assigns each response to its request. The server sends the responses in the order of the requests. */
    static final class Client extends SimpleChannelInboundHandler<Struct> {
        private final Queue<CompletableFuture<Struct>> unanswered = new ArrayDeque<>();
        private ChannelHandlerContext context;

        /** Requests the statistics of the given numbers. Any thread may call this method. */
        CompletableFuture<Struct> ask(DoubleStream numbers) {
            ListValue.Builder request = ListValue.newBuilder();
            numbers.forEach(value -> request.addValues(number(value)));
            CompletableFuture<Struct> answer = new CompletableFuture<>();
            context.executor().execute(() -> unanswered.add(answer));
            context.writeAndFlush(request.build()).addListener(written -> {
                if (!written.isSuccess()) {
                    answer.completeExceptionally(written.cause());
                }
            });
            return answer;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Struct response) {
            unanswered.remove().complete(response);
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
