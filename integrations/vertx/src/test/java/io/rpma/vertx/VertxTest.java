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
package io.rpma.vertx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.frameworks.TruncatingNameServer;
import io.rpma.netty.RpmaChannel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.datagram.DatagramSocket;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.dns.AddressResolverOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.WebSocket;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class VertxTest {
    private static final String HERE = "127.0.0.1";

    private final Vertx vertx = Vertx.builder().withTransport(new RpmaTransport()).build();

    // Vert.x closes a client that is not referenced any more, even while it is in use.
    private final List<Object> clients = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.await(60, TimeUnit.SECONDS);
    }

    private <T> T keep(T client) {
        clients.add(client);
        return client;
    }

    private static Buffer body(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return Buffer.buffer(bytes);
    }

    /**
     * Sends a request. The future is completed with the response when its body has been received. The body is requested here,
     * because a caller that requests it after it has arrived gets an empty one.
     */
    private static Future<HttpClientResponse> exchange(HttpClientRequest request, Buffer body) {
        Future<HttpClientResponse> answer = request.response().compose(response -> response.body().map(response));
        request.end(body);
        return answer;
    }

    // Starts a server that returns the body of a request, with the method and the path of the request in a header.
    private int echo(Vertx owner) throws Exception {
        HttpServer server = owner.createHttpServer(new HttpServerOptions().setCompressionSupported(true).setTcpNoDelay(true))
            .requestHandler(request -> request.body().onSuccess(body ->
                request.response().putHeader("asked", request.method() + " " + request.path()).end(body)));
        return await(server.listen(0, HERE)).actualPort();
    }

    @ParameterizedTest
    @EnumSource(value = HttpVersion.class, names = {"HTTP_1_1", "HTTP_2"})
    void httpRequestsWithBodiesOfManySizes(HttpVersion version) throws Exception {
        int port = echo(vertx);
        HttpClient client = keep(vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(version)));
        for (int length : new int[] {0, 1, 1_000, 100_000, 3_000_000}) {
            Buffer sent = body(length);
            HttpClientResponse response = await(client.request(HttpMethod.POST, port, HERE, "/" + length)
                .compose(request -> exchange(request, sent)));
            assertEquals(version, response.request().version());
            assertEquals("POST /" + length, response.getHeader("asked"));
            assertEquals(sent, await(response.body()));
        }
    }

    @Test
    void manyRequestsAtOnce() throws Exception {
        int port = echo(vertx);
        HttpClient client = keep(vertx.createHttpClient());
        List<Future<Buffer>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Buffer sent = body(100 * i);
            answers.add(client.request(HttpMethod.PUT, port, HERE, "/" + i).compose(request -> exchange(request, sent))
                .compose(HttpClientResponse::body));
        }
        for (int i = 0; i < 200; i++) {
            assertEquals(body(100 * i), await(answers.get(i)));
        }
    }

    @Test
    void socketsAreRpmaAndEndInOrder() throws Exception {
        Promise<Buffer> received = Promise.promise();
        Promise<Void> ended = Promise.promise();
        NetServer server = vertx.createNetServer().connectHandler(socket -> {
            Buffer all = Buffer.buffer();
            socket.handler(all::appendBuffer);
            socket.endHandler(end -> received.complete(all));
        });
        int port = await(server.listen(0, HERE)).actualPort();
        NetSocket client = await(keep(vertx.createNetClient()).connect(port, HERE));
        assertInstanceOf(RpmaChannel.class, ((NetSocketInternal) client).channelHandlerContext().channel());
        client.closeHandler(closed -> ended.complete());
        for (int i = 0; i < 50; i++) {
            client.write(body(20_000));
        }
        await(client.end());
        Buffer all = await(received.future());
        assertEquals(50 * 20_000, all.length());
        assertEquals(body(20_000), all.slice(49 * 20_000, 50 * 20_000));
        await(ended.future());
    }

    @Test
    void aFileIsSent(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), body(500_000).getBytes());
        HttpServer server = vertx.createHttpServer().requestHandler(request -> request.response().sendFile(file.toString()));
        int port = await(server.listen(0, HERE)).actualPort();
        Buffer got = await(keep(vertx.createHttpClient()).request(HttpMethod.GET, port, HERE, "/file")
            .compose(request -> exchange(request, Buffer.buffer())).compose(HttpClientResponse::body));
        assertEquals(body(500_000), got);
    }

    @Test
    void aWebSocket() throws Exception {
        HttpServer server = vertx.createHttpServer().webSocketHandler(socket ->
            socket.binaryMessageHandler(message -> socket.writeBinaryMessage(message)));
        int port = await(server.listen(0, HERE)).actualPort();
        WebSocket socket = await(keep(vertx.createWebSocketClient()).connect(port, HERE, "/"));
        Promise<Buffer> answer = Promise.promise();
        socket.binaryMessageHandler(answer::complete);
        socket.writeBinaryMessage(body(60_000));
        assertEquals(body(60_000), await(answer.future()));
        await(socket.close());
    }

    @Test
    void nobodyListens() throws Exception {
        HttpServer server = vertx.createHttpServer().requestHandler(request -> request.response().end());
        int port = await(server.listen(0, HERE)).actualPort();
        await(server.close());
        assertThrows(java.net.ConnectException.class, () -> await(keep(vertx.createNetClient()).connect(port, HERE)));
    }

    @Test
    void datagramsStayOnUdp() throws Exception {
        DatagramSocket receiver = await(vertx.createDatagramSocket().listen(0, HERE));
        Promise<Buffer> received = Promise.promise();
        receiver.handler(packet -> received.complete(packet.data()));
        await(vertx.createDatagramSocket().send(body(99), receiver.localAddress().port(), HERE));
        assertEquals(body(99), await(received.future()));
    }

    /** Vert.x's own transport for epoll has this option too. */
    @Test
    void datagramSocketsShareAPort() throws Exception {
        DatagramSocketOptions options = new DatagramSocketOptions().setReusePort(true);
        DatagramSocket first = await(vertx.createDatagramSocket(options).listen(0, HERE));
        int port = first.localAddress().port();
        DatagramSocket second = await(vertx.createDatagramSocket(options).listen(port, HERE));
        assertEquals(port, second.localAddress().port());
    }

    @Test
    void domainSocketsStay(@TempDir Path folder) throws Exception {
        SocketAddress address = SocketAddress.domainSocketAddress(folder.resolve("socket").toString());
        await(vertx.createHttpServer().requestHandler(request -> request.response().end(request.path())).listen(address));
        Buffer answer = await(keep(vertx.createHttpClient()).request(new RequestOptions().setServer(address).setHost("localhost")
            .setPort(80).setURI("/domain"))
            .compose(request -> exchange(request, Buffer.buffer())).compose(HttpClientResponse::body));
        assertEquals("/domain", answer.toString());
    }

    @Test
    void namesAreResolvedOverUdpAndTcp() throws Exception {
        try (TruncatingNameServer names = new TruncatingNameServer()) {
            VertxOptions options = new VertxOptions().setAddressResolverOptions(
                new AddressResolverOptions().addServer(HERE + ":" + names.address().getPort()).setCacheMaxTimeToLive(0));
            Vertx resolving = Vertx.builder().withTransport(new RpmaTransport()).with(options).build();
            try {
                int port = echo(resolving);
                Buffer answer = await(keep(resolving.createHttpClient()).request(HttpMethod.POST, port, "some.name.example", "/")
                    .compose(request -> exchange(request, body(10))).compose(HttpClientResponse::body));
                assertEquals(body(10), answer);
                assertTrue(names.overUdp() > 0 && names.overTcp() > 0, names.overUdp() + " over UDP, " + names.overTcp()
                    + " over TCP");
            } finally {
                await(resolving.close());
            }
        }
    }

    @Test
    void theTransportIsAvailable() {
        assertTrue(new RpmaTransport().available());
        assertEquals("rpma", new RpmaTransport().name());
        assertTrue(vertx.isNativeTransportEnabled());
    }

    /** The event loops wrap those of epoll, so RPMA cannot be used without epoll. */
    @Test
    void theTransportIsUnavailableWithoutEpoll() throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "-Dio.netty.transport.noNative=true", "-Dio.rpma.provider=soft", "-cp",
            System.getProperty("java.class.path"), Availability.class.getName()).redirectErrorStream(true).start();
        String output = process.inputReader().readAllAsString();
        assertEquals(0, process.waitFor(), output);
        assertTrue(output.contains("available: false, cause: "), output);
        assertTrue(output.contains("noNative"), output);
    }

    /** Prints whether the transport is available. */
    static final class Availability {
        private Availability() {
        }

        public static void main(String... arguments) {
            RpmaTransport transport = new RpmaTransport();
            System.out.println("available: " + transport.available() + ", cause: " + transport.unavailabilityCause());
            if (transport.unavailabilityCause() != null) {
                System.out.println(transport.unavailabilityCause().getCause());
            }
        }
    }
}
