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
package io.rpma.reactor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.netty.channel.Channel;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaServerChannel;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.DefaultPayload;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/** Tests frameworks that use Reactor Netty: Spring WebFlux, also with the server of Spring Boot, and RSocket. */
@Timeout(120)
class FrameworksTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HERE = "127.0.0.1";
    private static final int LARGE = 200_000;

    private final LoopResources rpma = RpmaLoopResources.create("rpma-frameworks", 2);
    private final ConnectionProvider connections = ConnectionProvider.create("rpma-frameworks", 16);
    /** The client's first connection. Reactor Netty passes it to its user before it calls {@code doOnConnected}. */
    private final CompletableFuture<Channel> used = new CompletableFuture<>();

    @AfterEach
    void close() {
        connections.disposeLater().block(PATIENCE);
        rpma.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(PATIENCE);
    }

    private static byte[] body(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return bytes;
    }

    private static HttpHandler echo() {
        return RouterFunctions.toHttpHandler(RouterFunctions.route().POST("/echo",
            request -> ServerResponse.ok().body(request.bodyToMono(byte[].class), byte[].class)).build());
    }

    private void exchange(int port) {
        HttpClient transport = HttpClient.create(connections).runOn(rpma)
            .doOnConnected(connection -> used.complete(connection.channel()));
        WebClient client = WebClient.builder().clientConnector(new ReactorClientHttpConnector(transport))
            .baseUrl("http://" + HERE + ':' + port).build();
        for (int length : new int[] {1, LARGE}) {
            assertArrayEquals(body(length), client.post().uri("/echo").bodyValue(body(length)).retrieve()
                .bodyToMono(byte[].class).block(PATIENCE));
        }
        assertInstanceOf(RpmaChannel.class, used.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join());
    }

    @Test
    void springWebFlux() {
        DisposableServer server = HttpServer.create().runOn(rpma).host(HERE).port(0)
            .handle(new ReactorHttpHandlerAdapter(echo())).bindNow(PATIENCE);
        assertInstanceOf(RpmaServerChannel.class, server.channel());
        exchange(server.port());
        server.disposeNow(PATIENCE);
    }

    /** Spring Boot uses the event loops of the bean of this class. */
    @Test
    void theServerOfSpringBoot() {
        ReactorResourceFactory resources = new ReactorResourceFactory();
        resources.setUseGlobalResources(false);
        resources.setLoopResources(rpma);
        resources.setConnectionProvider(connections);
        resources.start();
        NettyReactiveWebServerFactory factory = new NettyReactiveWebServerFactory(0);
        factory.setResourceFactory(resources);
        WebServer server = factory.getWebServer(echo());
        server.start();
        exchange(server.getPort());
        server.stop();
        resources.stop();
    }

    @Test
    void rSocket() {
        CloseableChannel server = RSocketServer.create(SocketAcceptor.with(new RSocket() {
            @Override
            public Mono<Payload> requestResponse(Payload payload) {
                return Mono.just(payload);
            }

            @Override
            public Flux<Payload> requestStream(Payload payload) {
                int count = Integer.parseInt(payload.getDataUtf8());
                payload.release();
                return Flux.range(0, count).map(i -> DefaultPayload.create(Integer.toString(i)));
            }
        })).bindNow(TcpServerTransport.create(TcpServer.create().runOn(rpma).host(HERE).port(0)));
        RSocket client = RSocketConnector.connectWith(TcpClientTransport.create(TcpClient.create(connections).runOn(rpma)
            .remoteAddress(() -> new InetSocketAddress(HERE, server.address().getPort()))
            .doOnConnected(connection -> used.complete(connection.channel())))).block(PATIENCE);
        assertInstanceOf(RpmaChannel.class, used.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join());
        String large = "x".repeat(LARGE);
        assertEquals(large, client.requestResponse(DefaultPayload.create(large)).map(Payload::getDataUtf8).block(PATIENCE));
        // There are more values than the requester requests at a time.
        assertEquals(499_500, client.requestStream(DefaultPayload.create("1000")).limitRate(16)
            .map(payload -> Integer.parseInt(payload.getDataUtf8())).reduce(0, Integer::sum).block(PATIENCE));
        client.dispose();
        client.onClose().block(PATIENCE);
        server.dispose();
        server.onClose().block(PATIENCE);
    }
}
