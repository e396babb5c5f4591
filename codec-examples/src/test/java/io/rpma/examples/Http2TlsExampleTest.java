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

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import io.netty.pkitesting.X509Bundle;
import io.rpma.Rpma;
import io.rpma.examples.Http2TlsExample.Tls;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests Netty's HTTP/2 codec with TLS and ALPN over RPMA channels. */
@Timeout(120)
class Http2TlsExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);

    @AfterEach
    void close() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private Channel start(Tls tls, X509Bundle certificate) throws Exception {
        return Http2TlsExample.startServer(group, new InetSocketAddress("127.0.0.1", 0), tls.server(certificate));
    }

    private static String protocol(Channel connection) throws Exception {
        SslHandler tls = connection.pipeline().get(SslHandler.class);
        tls.handshakeFuture().sync();
        return tls.applicationProtocol();
    }

    @ParameterizedTest
    @EnumSource(Tls.class)
    void asAProgram(Tls tls) throws Exception {
        ExampleRun run = ExampleRun.toEnd("http2-tls", "--requests", "250", "--tls", tls.name().toLowerCase()).ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("tls=TLSv1.3 of " + tls);
        run.has("protocol=h2");
        run.has("requests=250 all answered, on one connection, 100 at once");
    }

    @ParameterizedTest
    @CsvSource({"BORINGSSL,JDK", "JDK,BORINGSSL"})
    void streamsOfAllSizesAtOnce(Tls serverTls, Tls clientTls) throws Exception {
        X509Bundle certificate = TlsEchoExample.selfSigned();
        Channel server = start(serverTls, certificate);
        Channel connection = Http2TlsExample.connect(group, (InetSocketAddress) server.localAddress(),
            clientTls.client(certificate, ApplicationProtocolNames.HTTP_2));
        List<String> bodies = new ArrayList<>();
        List<CompletableFuture<String>> answers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            // Some bodies exceed the initial window of a stream, which is 64 KiB, and all of them together exceed that of the
            // connection.
            bodies.add("0123456789".repeat(i * i));
            answers.add(Http2TlsExample.send(connection, HttpMethod.POST, "/" + i + "?", bodies.get(i)));
        }
        for (int i = 0; i < 100; i++) {
            assertEquals("200 OK: POST /" + i + "?" + bodies.get(i), answers.get(i).get(60, TimeUnit.SECONDS));
        }
        connection.close().sync();
        server.close().sync();
    }

    @ParameterizedTest
    @EnumSource(Tls.class)
    void aClientWithoutHttp2IsServedByHttp1(Tls tls) throws Exception {
        X509Bundle certificate = TlsEchoExample.selfSigned();
        Channel server = start(tls, certificate);
        HttpExample.Client client = new HttpExample.Client();
        Channel connection = Http2TlsExample.connect(group, (InetSocketAddress) server.localAddress(),
            tls.client(certificate, ApplicationProtocolNames.HTTP_1_1), new HttpClientCodec(), new HttpObjectAggregator(1 << 20),
            client);
        assertEquals(ApplicationProtocolNames.HTTP_1_1, protocol(connection));
        FullHttpResponse response = client.send(HttpExample.request(connection, HttpMethod.PUT, "/", " it"))
            .get(60, TimeUnit.SECONDS);
        assertEquals("PUT / it", response.content().toString(StandardCharsets.UTF_8));
        response.release();
        connection.close().sync();
        server.close().sync();
    }
}
