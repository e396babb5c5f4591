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
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Struct;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests Netty's codec for protocol buffers over RPMA channels. */
@Timeout(120)
class ProtobufExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final ProtobufExample.Client client = new ProtobufExample.Client();
    private Channel server;
    private Channel connection;

    @BeforeEach
    void connect() throws Exception {
        server = ProtobufExample.startServer(group, new InetSocketAddress("127.0.0.1", 0));
        connection = ProtobufExample.connect(group, (InetSocketAddress) server.localAddress(), client);
    }

    @AfterEach
    void close() throws Exception {
        connection.close().sync();
        server.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static double field(Struct statistics, String name) {
        return statistics.getFieldsOrThrow(name).getNumberValue();
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("protobuf", "--requests", "50").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("requests=50 all answered, on one connection");
    }

    @Test
    void fromNoNumberToAMessageOfMegabytes() throws Exception {
        assertEquals(0, field(client.ask(DoubleStream.empty()).get(60, TimeUnit.SECONDS), "count"));
        Struct statistics = client.ask(IntStream.range(0, 200_000).asDoubleStream()).get(60, TimeUnit.SECONDS);
        assertEquals(200_000, field(statistics, "count"));
        assertEquals(19_999_900_000.0, field(statistics, "sum"));
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        List<CompletableFuture<Struct>> answers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            answers.add(client.ask(DoubleStream.of(i, -1.5)));
        }
        for (int i = 0; i < 500; i++) {
            assertEquals(i - 1.5, field(answers.get(i).get(60, TimeUnit.SECONDS), "sum"));
        }
    }

    @Test
    void whatIsNoMessageEndsTheConnection() throws Exception {
        // The frame has one byte, which is the beginning of an incomplete field.
        connection.pipeline().firstContext().writeAndFlush(connection.alloc().buffer().writeByte(1).writeByte(0x0a));
        assertTrue(connection.closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
    }
}
