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
package io.grpc.testing.integration;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.net.InetSocketAddress;

/**
 * The interoperability tests that gRPC publishes, on the server and the channel that gRPC creates by default. This class is in
 * gRPC's package, because the address of the test server is only accessible there.
 */
abstract class GrpcTest extends AbstractInteropTest {
    private static final int LARGEST_MESSAGE = 16 << 20;
    private static final int WINDOW = 65 << 10;

    ServerBuilder<?> server(ServerCredentials credentials) {
        NettyServerBuilder builder = NettyServerBuilder.forPort(0, credentials).flowControlWindow(WINDOW)
            .maxInboundMessageSize(LARGEST_MESSAGE);
        // The tests count with a tracer of their own.
        InternalNettyServerBuilder.setStatsEnabled(builder, false);
        return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
    }

    ManagedChannelBuilder<?> client(ChannelCredentials credentials) {
        NettyChannelBuilder builder = NettyChannelBuilder
            .forAddress("localhost", ((InetSocketAddress) getListenAddress()).getPort(), credentials)
            .overrideAuthority("foo.test.google.fr").flowControlWindow(WINDOW).maxInboundMessageSize(LARGEST_MESSAGE);
        InternalNettyChannelBuilder.setStatsEnabled(builder, false);
        return builder.intercept(createCensusStatsClientInterceptor());
    }
}
