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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests Netty's HTTP/1.1 codec over RPMA channels. */
@Timeout(120)
class HttpExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);
    private final HttpExample.Client client = new HttpExample.Client();
    private Channel server;
    private Channel connection;

    @BeforeEach
    void connect() throws Exception {
        server = HttpExample.startServer(group, new InetSocketAddress("127.0.0.1", 0));
        connection = HttpExample.connect(group, (InetSocketAddress) server.localAddress(), client);
    }

    @AfterEach
    void close() throws Exception {
        connection.close().sync();
        server.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static String answer(CompletableFuture<FullHttpResponse> future) throws Exception {
        FullHttpResponse response = future.get(60, TimeUnit.SECONDS);
        try {
            assertEquals(HttpResponseStatus.OK, response.status());
            return response.content().toString(StandardCharsets.UTF_8);
        } finally {
            response.release();
        }
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("http", "--requests", "50").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("requests=50 all answered, on one connection");
        run.has("compressed=1300006 bytes came as \\d{4,5}, in chunks");
    }

    @Test
    void aClientThatAcceptsCompressionGetsACompressedBody() throws Exception {
        String body = "compressible ".repeat(200_000);
        HttpExample.BodyCounter counter = connection.pipeline().get(HttpExample.BodyCounter.class);
        for (String encoding : new String[] {"gzip", "deflate", "identity"}) {
            FullHttpRequest request = HttpExample.request(connection, HttpMethod.POST, "/", body);
            request.headers().set(HttpHeaderNames.ACCEPT_ENCODING, encoding);
            long before = counter.bytes;
            assertEquals("POST /" + body, answer(client.send(request)));
            assertEquals(encoding.equals("identity"), counter.bytes - before > body.length() / 50,
                () -> encoding + ": " + (counter.bytes - before) + " bytes");
        }
    }

    @Test
    void bodiesFromNothingToMegabytes() throws Exception {
        for (int length : new int[] {0, 1, 1000, 65_536, 1_000_000, 5_000_000}) {
            String body = "0123456789".repeat(length / 10 + 1).substring(0, length);
            String answer = answer(client.send(HttpExample.request(connection, HttpMethod.POST, "/" + length + "?", body)));
            assertEquals("POST /" + length + "?" + body, answer);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        List<CompletableFuture<FullHttpResponse>> answers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            answers.add(client.send(HttpExample.request(connection, HttpMethod.PUT, "/" + i, " ".repeat(i))));
        }
        for (int i = 0; i < 500; i++) {
            assertEquals("PUT /" + i + " ".repeat(i), answer(answers.get(i)));
        }
    }

    @Test
    void aChunkedRequestThatWaitsToBeContinued() throws Exception {
        HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/chunks");
        head.headers().set(HttpHeaderNames.HOST, "localhost");
        HttpUtil.setTransferEncodingChunked(head, true);
        HttpUtil.set100ContinueExpected(head, true);
        CompletableFuture<FullHttpResponse> go = client.expect();
        connection.writeAndFlush(head).sync();
        FullHttpResponse continued = go.get(60, TimeUnit.SECONDS);
        assertEquals(HttpResponseStatus.CONTINUE, continued.status());
        continued.release();

        StringBuilder body = new StringBuilder();
        CompletableFuture<FullHttpResponse> answer = client.expect();
        for (int i = 0; i < 300; i++) {
            String chunk = ("chunk " + i + ";").repeat(i + 1);
            body.append(chunk);
            ByteBuf bytes = Unpooled.copiedBuffer(chunk, StandardCharsets.UTF_8);
            connection.write(new DefaultHttpContent(bytes));
        }
        connection.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT).sync();
        assertEquals("POST /chunks" + body, answer(answer));
    }

    @Test
    void theServerClosesWhenItIsAskedTo() throws Exception {
        FullHttpRequest last = HttpExample.request(connection, HttpMethod.GET, "/last", "");
        HttpUtil.setKeepAlive(last, false);
        assertEquals("GET /last", answer(client.send(last)));
        assertTrue(connection.closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
        assertFalse(connection.isActive());
        ExecutionException failure = assertThrows(ExecutionException.class,
            () -> client.send(HttpExample.request(connection, HttpMethod.GET, "/late", "")).get(30, TimeUnit.SECONDS));
        assertTrue(failure.getCause() instanceof java.nio.channels.ClosedChannelException, failure::toString);
    }
}
