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

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** gRPC without generated code: a service that echoes bytes, and its client. */
public final class GrpcEcho {
    private static final int REQUESTS = 20;
    private static final int BYTES = 50_000;

    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("test.Echo/Echo")
        .setRequestMarshaller(new Bytes()).setResponseMarshaller(new Bytes()).build();

    private GrpcEcho() {
    }

    /** Runs the program, and prints the result. */
    public static void main(String[] arguments) throws Exception {
        Server server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(ServerServiceDefinition.builder("test.Echo").addMethod(ECHO,
                ServerCalls.asyncUnaryCall((byte[] request, io.grpc.stub.StreamObserver<byte[]> answers) -> {
                    answers.onNext(request);
                    answers.onCompleted();
                })).build())
            .build().start();
        ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
        long sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            byte[] body = new byte[BYTES];
            Arrays.fill(body, (byte) i);
            sum = sum * 31 + Arrays.hashCode(ClientCalls.blockingUnaryCall(channel, ECHO,
                CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS), body));
        }
        System.out.println("result: sum " + sum);
        channel.shutdownNow().awaitTermination(30, TimeUnit.SECONDS);
        server.shutdownNow().awaitTermination(30, TimeUnit.SECONDS);
    }

    /** Passes bytes on unchanged. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
