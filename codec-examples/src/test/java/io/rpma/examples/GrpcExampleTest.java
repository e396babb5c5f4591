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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.Int64Value;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests grpc-java over RPMA channels. */
@Timeout(120)
class GrpcExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final GrpcExample.Numbers numbers = new GrpcExample.Numbers();
    private Server server;
    private ManagedChannel channel;

    @BeforeEach
    void connect() throws Exception {
        server = GrpcExample.startServer(group, new InetSocketAddress("127.0.0.1", 0), numbers);
        channel = GrpcExample.connect(group, (InetSocketAddress) server.getListenSockets().getFirst());
    }

    @AfterEach
    void close() throws Exception {
        assertTrue(channel.shutdownNow().awaitTermination(30, TimeUnit.SECONDS), "the client did not terminate");
        assertTrue(server.shutdownNow().awaitTermination(30, TimeUnit.SECONDS), "the server did not terminate");
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static List<Long> answer(CompletableFuture<List<Long>> answer) throws Exception {
        return answer.get(60, TimeUnit.SECONDS);
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("grpc", "--large", "1MiB").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("calls=unary, streaming in all three ways, deadline, cancellation, a message of 1MiB");
        run.has("at once=1000 calls on one connection");
    }

    @Test
    void streamsOfThousandsInAllThreeWays() throws Exception {
        List<Long> many = LongStream.rangeClosed(1, 5000).boxed().toList();
        assertEquals(many, answer(GrpcExample.stream(channel, GrpcExample.COUNT, List.of(5000L))));
        assertEquals(List.of(5000L * 5001 / 2), answer(GrpcExample.stream(channel, GrpcExample.SUM, many)));
        assertEquals(many.stream().map(n -> n * (n + 1) / 2).toList(),
            answer(GrpcExample.stream(channel, GrpcExample.RUNNING_SUM, many)));
    }

    @Test
    void messagesOfMegabytesAtOnce() throws Exception {
        Random random = new Random(1);
        List<BytesValue> sent = new ArrayList<>();
        List<Future<BytesValue>> answers = new ArrayList<>();
        for (int size : new int[] {0, 1, 16_384, 65_535, 1 << 20, 4 << 20}) {
            byte[] bytes = new byte[size];
            random.nextBytes(bytes);
            sent.add(BytesValue.of(ByteString.copyFrom(bytes)));
            answers.add(ClientCalls.futureUnaryCall(channel.newCall(GrpcExample.ECHO, CallOptions.DEFAULT), sent.getLast()));
        }
        for (int i = 0; i < sent.size(); i++) {
            assertEquals(sent.get(i), answers.get(i).get(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void aMessageThatIsTooLargeIsRefusedAndTheConnectionGoesOn() throws Exception {
        BytesValue tooLarge = BytesValue.of(ByteString.copyFrom(new byte[33 << 20]));
        StatusRuntimeException refusal = assertThrows(StatusRuntimeException.class,
            () -> ClientCalls.blockingUnaryCall(channel, GrpcExample.ECHO, CallOptions.DEFAULT, tooLarge));
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, refusal.getStatus().getCode());
        assertEquals(List.of(9L), answer(GrpcExample.unary(channel, GrpcExample.SQUARE, 3)));
    }

    @Test
    void aDeadlineAndACancellationEndTheCallOnBothSides() throws Exception {
        assertEquals(Status.Code.CANCELLED, GrpcExample.cancel(channel));
        assertTrue(numbers.cancelled.tryAcquire(30, TimeUnit.SECONDS), "the server was not notified of the cancellation");
        assertEquals(Status.Code.DEADLINE_EXCEEDED, GrpcExample.missDeadline(channel, 500));
        assertTrue(numbers.cancelled.tryAcquire(30, TimeUnit.SECONDS), "the server was not notified of the deadline");
        assertEquals(List.of(9L), answer(GrpcExample.unary(channel, GrpcExample.SQUARE, 3)));
    }

    /** gRPC's flow control works on top of that of the transport: the server sends as much as the client requests. */
    @Test
    void aClientThatAsksForNothingGetsNothing() throws Exception {
        BlockingQueue<Long> received = new LinkedBlockingQueue<>();
        ClientCall<Int64Value, Int64Value> call = channel.newCall(GrpcExample.COUNT, CallOptions.DEFAULT);
        CompletableFuture<Status> end = new CompletableFuture<>();
        call.start(new ClientCall.Listener<>() {
            @Override
            public void onMessage(Int64Value n) {
                received.add(n.getValue());
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                end.complete(status);
            }
        }, new Metadata());
        call.sendMessage(Int64Value.of(1000));
        call.halfClose();
        for (long n = 1; n <= 3; n++) {
            call.request(1);
            assertEquals(n, received.poll(30, TimeUnit.SECONDS));
            assertTrue(received.isEmpty(), "more was received than was requested");
        }
        call.request(1000);
        assertTrue(end.get(60, TimeUnit.SECONDS).isOk(), () -> end.join().toString());
        assertEquals(997, received.size());
    }

    @Test
    void aServerThatEndsEndsTheCalls() throws Exception {
        CompletableFuture<List<Long>> alone = GrpcExample.unary(channel, GrpcExample.MEET, 2);
        // The answer to the second call shows that the first call has arrived, because both use one connection, in order.
        assertEquals(List.of(9L), answer(GrpcExample.unary(channel, GrpcExample.SQUARE, 3)));
        server.shutdownNow();
        Throwable failure = assertThrows(ExecutionException.class, () -> answer(alone)).getCause();
        // The server resets the call and announces that it shuts down. gRPC's client reports the one that it receives first.
        Status.Code code = Status.fromThrowable(failure).getCode();
        assertTrue(code == Status.Code.CANCELLED || code == Status.Code.UNAVAILABLE, failure::toString);
    }
}
