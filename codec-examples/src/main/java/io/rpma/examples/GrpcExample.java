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

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.Int64Value;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs grpc-java without changes. Only the channel types and the event loop groups of the two builders belong to RPMA. The
 * messages are well-known types of protobuf-java and the methods are written by hand, so that no code has to be generated. In an
 * application, the code that protoc generates for its service takes their place.
 */
@Command(name = "grpc", description = "grpc-java as it is: every kind of call, and 1,000 at once")
final class GrpcExample implements Callable<Integer> {
    static final MethodDescriptor<Int64Value, Int64Value> SQUARE = numbers(MethodType.UNARY, "Square");
    static final MethodDescriptor<Int64Value, Int64Value> COUNT = numbers(MethodType.SERVER_STREAMING, "Count");
    static final MethodDescriptor<Int64Value, Int64Value> SUM = numbers(MethodType.CLIENT_STREAMING, "Sum");
    static final MethodDescriptor<Int64Value, Int64Value> RUNNING_SUM = numbers(MethodType.BIDI_STREAMING, "RunningSum");
    static final MethodDescriptor<Int64Value, Int64Value> MEET = numbers(MethodType.UNARY, "Meet");
    static final MethodDescriptor<Int64Value, Int64Value> HANG = numbers(MethodType.SERVER_STREAMING, "Hang");
    static final MethodDescriptor<BytesValue, BytesValue> ECHO =
        method(MethodType.UNARY, "Echo", BytesValue.getDefaultInstance());

    private static final String SERVICE = "rpma.example.Numbers";
    private static final int LARGEST_MESSAGE = 32 << 20;
    private static final int LARGEST_FRAME = LARGEST_MESSAGE + 16;

    @Spec
    private CommandSpec spec;

    @Mixin
    private CommonOptions common;

    @Option(names = "--calls", paramLabel = "N", defaultValue = "1000", converter = AtLeastOne.class,
        description = "how many at once (default: ${DEFAULT-VALUE})")
    private int calls;

    @Option(names = "--large", paramLabel = "SIZE", defaultValue = "16MiB",
        description = "the size of a large message, at most 32MiB (default: ${DEFAULT-VALUE})")
    private ByteSize large;

    @Override
    public Integer call() throws Exception {
        if (large.bytes() > LARGEST_MESSAGE) {
            throw new ParameterException(spec.commandLine(), "--large " + large + ": at most 32MiB");
        }
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        Numbers numbers = new Numbers();
        Server server = startServer(group, new InetSocketAddress("127.0.0.1", 0), numbers);
        InetSocketAddress address = (InetSocketAddress) server.getListenSockets().getFirst();
        ManagedChannel channel = connect(group, address);
        try {
            CommonOptions.print(address);
            expect("unary", List.of(49L), unary(channel, SQUARE, 7).get(30, TimeUnit.SECONDS));
            expect("server streaming", LongStream.rangeClosed(1, 100).boxed().toList(),
                stream(channel, COUNT, List.of(100L)).get(30, TimeUnit.SECONDS));
            expect("client streaming", List.of(6L), stream(channel, SUM, List.of(1L, 2L, 3L)).get(30, TimeUnit.SECONDS));
            expect("both ways", List.of(1L, 3L, 6L),
                stream(channel, RUNNING_SUM, List.of(1L, 2L, 3L)).get(30, TimeUnit.SECONDS));
            expect("deadline", Status.Code.DEADLINE_EXCEEDED, missDeadline(channel, 200));
            expect("cancellation, at the client", Status.Code.CANCELLED, cancel(channel));
            expect("cancellation, at the server", true, numbers.cancelled.tryAcquire(2, 30, TimeUnit.SECONDS));
            BytesValue bytes = BytesValue.of(ByteString.copyFrom(new byte[(int) large.bytes()]));
            expect("large message", true, ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, bytes).equals(bytes));

            // The server answers each of these calls only when all of them have arrived.
            List<CompletableFuture<List<Long>>> meeting = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                meeting.add(unary(channel, MEET, calls));
            }
            for (CompletableFuture<List<Long>> one : meeting) {
                expect("a meeting of " + calls, List.of((long) calls), one.get(60, TimeUnit.SECONDS));
            }
            System.out.println("calls=unary, streaming in all three ways, deadline, cancellation, a message of " + large);
            System.out.println("at once=" + calls + " calls on one connection");
        } finally {
            channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
            server.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    private static void expect(String what, Object expected, Object got) throws IOException {
        if (!expected.equals(got)) {
            throw new IOException(what + ": expected " + expected + ", and got " + got);
        }
    }

    static Server startServer(EventLoopGroup group, InetSocketAddress address, Numbers numbers) throws IOException {
        return NettyServerBuilder.forAddress(address)
            .channelType(RpmaServerChannel.class)
            .bossEventLoopGroup(group)
            .workerEventLoopGroup(group)
            .maxInboundMessageSize(LARGEST_FRAME)
            .addService(numbers.service())
            .build().start();
    }

    static ManagedChannel connect(EventLoopGroup group, InetSocketAddress server) {
        return NettyChannelBuilder.forAddress(server)
            .channelType(RpmaChannel.class)
            .eventLoopGroup(group)
            .usePlaintext()
            .maxInboundMessageSize(LARGEST_FRAME)
            .build();
    }

    private static MethodDescriptor<Int64Value, Int64Value> numbers(MethodType type, String name) {
        return method(type, name, Int64Value.getDefaultInstance());
    }

    private static <T extends Message> MethodDescriptor<T, T> method(MethodType type, String name, T message) {
        return MethodDescriptor.<T, T>newBuilder()
            .setType(type)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
            .setRequestMarshaller(ProtoUtils.marshaller(message))
            .setResponseMarshaller(ProtoUtils.marshaller(message))
            .build();
    }

    static CompletableFuture<List<Long>> unary(ManagedChannel channel, MethodDescriptor<Int64Value, Int64Value> method, long n) {
        Answers answers = new Answers();
        ClientCalls.asyncUnaryCall(channel.newCall(method, CallOptions.DEFAULT), Int64Value.of(n), answers);
        return answers.future;
    }

    /** Calls a method of any streaming kind. */
    static CompletableFuture<List<Long>> stream(ManagedChannel channel, MethodDescriptor<Int64Value, Int64Value> method,
            List<Long> requests) {
        Answers answers = new Answers();
        StreamObserver<Int64Value> to = switch (method.getType()) {
            case CLIENT_STREAMING -> ClientCalls.asyncClientStreamingCall(channel.newCall(method, CallOptions.DEFAULT), answers);
            case BIDI_STREAMING -> ClientCalls.asyncBidiStreamingCall(channel.newCall(method, CallOptions.DEFAULT), answers);
            default -> {
                ClientCalls.asyncServerStreamingCall(channel.newCall(method, CallOptions.DEFAULT),
                    Int64Value.of(requests.getFirst()), answers);
                yield null;
            }
        };
        if (to != null) {
            requests.forEach(n -> to.onNext(Int64Value.of(n)));
            to.onCompleted();
        }
        return answers.future;
    }

    /** Returns the status of a call that the server does not answer before its deadline. */
    static Status.Code missDeadline(ManagedChannel channel, long millis) {
        return ending(ClientCalls.blockingServerStreamingCall(channel, HANG,
            CallOptions.DEFAULT.withDeadlineAfter(millis, TimeUnit.MILLISECONDS), Int64Value.of(1)));
    }

    /** Returns the status of a call that is cancelled after the first response of the server. */
    static Status.Code cancel(ManagedChannel channel) {
        Context.CancellableContext context = Context.current().withCancellation();
        Iterator<Int64Value> responses;
        Context before = context.attach();
        try {
            responses = ClientCalls.blockingServerStreamingCall(channel, HANG, CallOptions.DEFAULT, Int64Value.of(1));
        } finally {
            context.detach(before);
        }
        responses.next();
        context.cancel(null);
        return ending(responses);
    }

    private static Status.Code ending(Iterator<Int64Value> responses) {
        try {
            while (responses.hasNext()) {
                responses.next();
            }
            return Status.Code.OK;
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode();
        }
    }

    /** The service of the example. */
    static final class Numbers {
        /** Has one permit for each call of {@code Hang} that has ended. All of these calls end by cancellation. */
        final Semaphore cancelled = new Semaphore(0);
        private final List<StreamObserver<Int64Value>> meeting = new ArrayList<>();

        ServerServiceDefinition service() {
            return ServerServiceDefinition.builder(SERVICE)
                .addMethod(SQUARE, ServerCalls.asyncUnaryCall((n, to) -> {
                    to.onNext(Int64Value.of(n.getValue() * n.getValue()));
                    to.onCompleted();
                }))
                .addMethod(COUNT, ServerCalls.asyncServerStreamingCall((n, to) -> {
                    LongStream.rangeClosed(1, n.getValue()).forEach(i -> to.onNext(Int64Value.of(i)));
                    to.onCompleted();
                }))
                .addMethod(SUM, ServerCalls.asyncClientStreamingCall(to -> new Adder(to, false)))
                .addMethod(RUNNING_SUM, ServerCalls.asyncBidiStreamingCall(to -> new Adder(to, true)))
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((bytes, to) -> {
                    to.onNext(bytes);
                    to.onCompleted();
                }))
                .addMethod(MEET, ServerCalls.asyncUnaryCall(this::meet))
                .addMethod(HANG, ServerCalls.asyncServerStreamingCall((n, to) -> {
                    ((ServerCallStreamObserver<Int64Value>) to).setOnCancelHandler(cancelled::release);
                    to.onNext(n);
                }))
                .build();
        }

        private synchronized void meet(Int64Value n, StreamObserver<Int64Value> to) {
            meeting.add(to);
            if (meeting.size() == n.getValue()) {
                meeting.forEach(one -> {
                    one.onNext(n);
                    one.onCompleted();
                });
                meeting.clear();
            }
        }
    }

    /** Adds the received numbers, and sends the sum at the end or after every number. */
    private static final class Adder implements StreamObserver<Int64Value> {
        private final StreamObserver<Int64Value> to;
        private final boolean running;
        private long sum;

        Adder(StreamObserver<Int64Value> to, boolean running) {
            this.to = to;
            this.running = running;
        }

        @Override
        public void onNext(Int64Value n) {
            sum += n.getValue();
            if (running) {
                to.onNext(Int64Value.of(sum));
            }
        }

        @Override
        public void onError(Throwable cause) {
            System.err.println("grpc server: a stream broke off: " + cause);
        }

        @Override
        public void onCompleted() {
            if (!running) {
                to.onNext(Int64Value.of(sum));
            }
            to.onCompleted();
        }
    }

    /** Collects the responses to a call. */
    private static final class Answers implements StreamObserver<Int64Value> {
        private final List<Long> numbers = new ArrayList<>();
        private final CompletableFuture<List<Long>> future = new CompletableFuture<>();

        @Override
        public void onNext(Int64Value n) {
            numbers.add(n.getValue());
        }

        @Override
        public void onError(Throwable cause) {
            future.completeExceptionally(cause);
        }

        @Override
        public void onCompleted() {
            future.complete(numbers);
        }
    }
}
