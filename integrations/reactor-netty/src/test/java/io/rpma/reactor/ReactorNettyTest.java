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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.handler.codec.http.LastHttpContent;
import io.rpma.frameworks.TruncatingNameServer;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaServerChannel;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;
import reactor.netty.udp.UdpClient;
import reactor.netty.udp.UdpServer;

@Timeout(120)
class ReactorNettyTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HERE = "127.0.0.1";

    private final LoopResources rpma = RpmaLoopResources.create("rpma-test", 2);
    private final ConnectionProvider connections = ConnectionProvider.create("rpma-test", 64);

    @AfterEach
    void close() {
        connections.disposeLater().block(PATIENCE);
        rpma.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(PATIENCE);
        assertTrue(rpma.isDisposed());
    }

    private static byte[] body(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return bytes;
    }

    private DisposableServer echo(HttpProtocol protocol) {
        return HttpServer.create().runOn(rpma).host(HERE).port(0).protocol(protocol)
            .handle((request, response) -> response.header("asked", request.method() + " " + request.uri())
                .send(request.receive().retain()))
            .bindNow(PATIENCE);
    }

    private HttpClient client(DisposableServer server) {
        return HttpClient.create(connections).runOn(rpma).baseUrl("http://" + HERE + ":" + server.port());
    }

    private static byte[] post(HttpClient client, String path, byte[] sent) {
        return client.post().uri(path).send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(sent)))
            .responseSingle((response, content) -> {
                assertEquals("POST " + path, response.responseHeaders().get("asked"));
                return content.asByteArray().defaultIfEmpty(new byte[0]);
            }).block(PATIENCE);
    }

    @ParameterizedTest
    @EnumSource(value = HttpProtocol.class, names = {"HTTP11", "H2C"})
    void httpRequestsWithBodiesOfManySizes(HttpProtocol protocol) {
        DisposableServer server = echo(protocol);
        AtomicReference<Channel> used = new AtomicReference<>();
        HttpClient client = client(server).protocol(protocol).doOnConnected(connection -> used.set(connection.channel()));
        for (int length : new int[] {0, 1, 1_000, 100_000, 3_000_000}) {
            assertArrayEquals(body(length), post(client, "/" + length, body(length)));
        }
        Channel channel = used.get();
        assertInstanceOf(RpmaChannel.class, channel.parent() != null ? channel.parent() : channel);
        assertInstanceOf(RpmaServerChannel.class, server.channel());
        server.disposeNow(PATIENCE);
    }

    @Test
    void manyRequestsAtOnce() {
        DisposableServer server = echo(HttpProtocol.HTTP11);
        HttpClient client = client(server);
        long right = Flux.range(0, 200).flatMap(i -> client.post().uri("/" + i)
            .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body(100 * i))))
            .responseSingle((response, content) -> content.asByteArray().defaultIfEmpty(new byte[0]))
            .filter(answer -> java.util.Arrays.equals(answer, body(100 * i))), 100).count().block(PATIENCE);
        assertEquals(200, right);
        server.disposeNow(PATIENCE);
    }

    @Test
    void backPressureHoldsTheSender() {
        DisposableServer server = TcpServer.create().runOn(rpma).host(HERE).port(0)
            .handle((in, out) -> out.sendByteArray(Flux.range(0, 2_000).map(i -> body(10_000)))).bindNow(PATIENCE);
        Connection connection = TcpClient.create(connections).runOn(rpma).host(HERE).port(server.port()).connectNow(PATIENCE);
        // The data is requested in small portions, and is nevertheless complete.
        long bytes = connection.inbound().receive().limitRate(2).map(buffer -> (long) buffer.readableBytes())
            .takeUntil(new LongSum(20_000_000L)).reduce(0L, Long::sum).block(PATIENCE);
        assertEquals(20_000_000L, bytes);
        connection.disposeNow(PATIENCE);
        server.disposeNow(PATIENCE);
    }

    /** Tests whether the given number of bytes has been received. */
    private static final class LongSum implements java.util.function.Predicate<Long> {
        private final long all;
        private long sum;

        LongSum(long all) {
            this.all = all;
        }

        @Override
        public boolean test(Long value) {
            sum += value;
            return sum >= all;
        }
    }

    @Test
    void aFileIsSent(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), body(500_000));
        DisposableServer server = HttpServer.create().runOn(rpma).host(HERE).port(0)
            .handle((request, response) -> response.sendFile(file)).bindNow(PATIENCE);
        assertArrayEquals(body(500_000), client(server).get().uri("/").responseContent().aggregate().asByteArray()
            .block(PATIENCE));
        server.disposeNow(PATIENCE);
    }

    @Test
    void nobodyListens() {
        DisposableServer server = echo(HttpProtocol.HTTP11);
        HttpClient client = client(server);
        server.disposeNow(PATIENCE);
        RuntimeException failure = assertThrows(RuntimeException.class, () -> client.get().uri("/").response().block(PATIENCE));
        assertInstanceOf(ConnectException.class, failure.getCause());
    }

    /**
     * A server answers without waiting for the request's body. The client has the answer, and closes the connection, because it
     * will not complete the request. This is the same on any transport. Over RPMA the answer is faster, so that more requests are
     * incomplete when it arrives.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAnswerBeforeTheEndOfTheRequestEndsTheConnection(boolean overRpma) throws Exception {
        LoopResources loops = overRpma ? rpma : LoopResources.create("tcp-test", 1, true);
        CountDownLatch closed = new CountDownLatch(1);
        AtomicInteger completeRequests = new AtomicInteger();
        DisposableServer server = HttpServer.create().runOn(loops).host(HERE).port(0)
            .doOnChannelInit((observer, channel, address) -> channel.pipeline().addBefore(NettyPipeline.HttpTrafficHandler,
                "requests", new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        completeRequests.addAndGet(msg instanceof LastHttpContent ? 1 : 0);
                        ctx.fireChannelRead(msg);
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        closed.countDown();
                        ctx.fireChannelInactive();
                    }
                }))
            .handle((request, response) -> response.sendHeaders()).bindNow(PATIENCE);
        // The rest of this body is never sent.
        Flux<ByteBuf> body = Flux.concat(Mono.fromSupplier(() -> Unpooled.copyInt(1)), Flux.never());
        int status = HttpClient.create(connections).runOn(loops).baseUrl("http://" + HERE + ":" + server.port()).post()
            .send((request, outbound) -> outbound.send(body, buffer -> true))
            .responseSingle((response, content) -> content.thenReturn(response.status().code())).block(PATIENCE);
        assertEquals(200, status);
        assertTrue(closed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        assertEquals(0, completeRequests.get());
        server.disposeNow(PATIENCE);
        if (!overRpma) {
            loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block(PATIENCE);
        }
    }

    @Test
    void datagramsStayOnUdp() {
        Connection server = UdpServer.create().runOn(rpma).host(HERE).port(0)
            .handle((in, out) -> out.sendObject(in.receiveObject().cast(DatagramPacket.class)
                .map(packet -> new DatagramPacket(packet.content().retain(), packet.sender())))).bindNow(PATIENCE);
        assertInstanceOf(EpollDatagramChannel.class, server.channel());
        Connection client = UdpClient.create().runOn(rpma).host(HERE)
            .port(((java.net.InetSocketAddress) server.channel().localAddress()).getPort()).connectNow(PATIENCE);
        Mono<byte[]> answer = client.inbound().receive().asByteArray().next().cache();
        answer.subscribe();
        client.outbound().sendByteArray(Mono.just(body(99))).then().block(PATIENCE);
        assertArrayEquals(body(99), answer.block(PATIENCE));
        client.disposeNow(PATIENCE);
        server.disposeNow(PATIENCE);
    }

    @Test
    void domainSocketsStay(@TempDir Path folder) {
        DomainSocketAddress address = new DomainSocketAddress(folder.resolve("socket").toFile());
        DisposableServer server = HttpServer.create().runOn(rpma).bindAddress(() -> address)
            .handle((request, response) -> response.sendString(Mono.just(request.uri()))).bindNow(PATIENCE);
        assertEquals("/domain", HttpClient.create(connections).runOn(rpma).remoteAddress(() -> address).get().uri("/domain")
            .responseContent().aggregate().asString().block(PATIENCE));
        server.disposeNow(PATIENCE);
    }

    @Test
    void namesAreResolvedOverUdpAndTcp() throws Exception {
        try (TruncatingNameServer names = new TruncatingNameServer()) {
            DisposableServer server = echo(HttpProtocol.HTTP11);
            HttpClient client = HttpClient.create(connections).runOn(rpma)
                .baseUrl("http://some.name.example:" + server.port())
                .resolver(spec -> spec.retryTcpOnTimeout(true).dnsAddressResolverGroupProvider(builder ->
                    new io.netty.resolver.dns.DnsAddressResolverGroup(builder.nameServerProvider(
                        new io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider(names.address())))));
            assertArrayEquals(body(10), post(client, "/", body(10)));
            assertTrue(names.overUdp() > 0 && names.overTcp() > 0, names.overUdp() + " over UDP, " + names.overTcp()
                + " over TCP");
            server.disposeNow(PATIENCE);
        }
    }

    /**
     * Reactor throws an exception when a handler blocks on an event loop. The client in the handler runs on the same event loop,
     * so the thread would otherwise wait for itself.
     */
    @Test
    void aHandlerCannotBlockAnEventLoop() {
        AtomicReference<HttpClient> client = new AtomicReference<>();
        DisposableServer server = HttpServer.create().runOn(rpma).host(HERE).port(0)
            .route(routes -> routes.get("/blocks", (request, response) -> response.sendString(Mono.fromSupplier(
                () -> Schedulers.isInNonBlockingThread() + " " + assertThrows(IllegalStateException.class,
                    () -> client.get().get().uri("/empty").response().block(Duration.ofMillis(100))).getMessage())))
                .get("/empty", (request, response) -> response.send()))
            .bindNow(PATIENCE);
        client.set(client(server));
        String answer = client.get().get().uri("/blocks").responseContent().aggregate().asString().block(PATIENCE);
        assertTrue(answer.startsWith("true block()") && answer.contains(" not supported in thread rpma-test-"), answer);
        server.disposeNow(PATIENCE);
    }

    @Test
    void whichChannelIsWhich() {
        assertSame(RpmaChannel.class, rpma.onChannelClass(SocketChannel.class, rpma.onClient(true)));
        assertSame(RpmaServerChannel.class, rpma.onChannelClass(ServerSocketChannel.class, rpma.onServer(false)));
        assertSame(EpollDatagramChannel.class, rpma.onChannelClass(DatagramChannel.class, rpma.onServer(true)));
        assertSame(EpollDomainSocketChannel.class, rpma.onChannelClass(DomainSocketChannel.class, rpma.onServer(true)));
        assertSame(EpollServerDomainSocketChannel.class,
            rpma.onChannelClass(ServerDomainSocketChannel.class, rpma.onServer(true)));
        assertThrows(IllegalArgumentException.class, () -> rpma.onChannel(Channel.class, rpma.onServer(true)));
    }
}
