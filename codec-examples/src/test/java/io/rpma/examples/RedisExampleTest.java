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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests Netty's codec for the Redis protocol over RPMA channels. */
@Timeout(120)
class RedisExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private Channel server;
    private RedisExample.Client client;

    @BeforeEach
    void connect() throws Exception {
        server = RedisExample.startServer(group, new InetSocketAddress("127.0.0.1", 0));
        client = RedisExample.connect(group, (InetSocketAddress) server.localAddress());
    }

    @AfterEach
    void close() throws Exception {
        client.channel().close().sync();
        server.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static String answer(CompletableFuture<String> answer) throws Exception {
        return answer.get(60, TimeUnit.SECONDS);
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("redis", "--keys", "250", "--pipeline", "100").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("keys=250 set and got, on one connection");
    }

    @Test
    void aValueLivesFromSetToDel() throws Exception {
        assertEquals("PONG", answer(client.sendAndFlush("ping")));
        assertNull(answer(client.sendAndFlush("GET", "k")));
        assertEquals("OK", answer(client.sendAndFlush("SET", "k", "")));
        assertEquals("", answer(client.sendAndFlush("GET", "k")));
        assertEquals("1", answer(client.sendAndFlush("DEL", "k")));
        assertEquals("0", answer(client.sendAndFlush("DEL", "k")));
        assertEquals("0", answer(client.sendAndFlush("DBSIZE")));
    }

    @Test
    void valuesUpToMegabytesAndManyClients() throws Exception {
        List<RedisExample.Client> clients = new ArrayList<>();
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            RedisExample.Client one = RedisExample.connect(group, (InetSocketAddress) server.localAddress());
            clients.add(one);
            answers.add(one.sendAndFlush("SET", "k" + i, Integer.toString(i).repeat(1 << (2 * i))));
        }
        for (int i = 0; i < 10; i++) {
            assertEquals("OK", answer(answers.get(i)));
        }
        for (int i = 0; i < 10; i++) {
            RedisExample.Client another = clients.get((i + 3) % 10);
            assertEquals(Integer.toString(i).repeat(1 << (2 * i)), answer(another.sendAndFlush("GET", "k" + i)));
        }
        for (RedisExample.Client one : clients) {
            one.channel().close().sync();
        }
    }

    @Test
    void aWrongCommandIsNamedAndTheNextOneIsCarriedOut() throws Exception {
        assertTrue(answer(client.sendAndFlush("FLY", "away")).contains("'FLY' with 1"));
        assertTrue(answer(client.sendAndFlush("GET")).contains("'GET' with 0"));
        assertEquals("PONG", answer(client.sendAndFlush("PING")));
    }

    @Test
    void whatIsNotTheProtocolIsAnsweredByAnErrorAndTheEnd() throws Exception {
        CompletableFuture<String> refusal = client.expect();
        // The bytes are written below the encoder.
        client.channel().pipeline().firstContext()
            .writeAndFlush(ByteBufUtil.writeUtf8(client.channel().alloc(), "$99999999999999999999999\r\n")).sync();
        assertTrue(answer(refusal).startsWith("ERR Protocol error"), refusal::join);
        assertTrue(client.channel().closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
        ExecutionException late = assertThrows(ExecutionException.class,
            () -> client.sendAndFlush("PING").get(30, TimeUnit.SECONDS));
        assertInstanceOf(ClosedChannelException.class, late.getCause());
    }
}
