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
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.X509Bundle;
import io.rpma.Rpma;
import io.rpma.netty.RpmaEventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Netty's {@code SslHandler} with the JDK's TLS over RPMA channels. */
@Timeout(120)
class TlsEchoExampleTest {
    private final EventLoopGroup group = new RpmaEventLoopGroup(2);

    @AfterEach
    void close() throws Exception {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    private static SslContext serverTls(X509Bundle certificate) throws Exception {
        return SslContextBuilder.forServer(certificate.toKeyManagerFactory()).sslProvider(SslProvider.JDK).build();
    }

    private static SslContext clientTls(X509Bundle trusted, String... protocols) throws Exception {
        return SslContextBuilder.forClient().trustManager(trusted.toTrustManagerFactory()).sslProvider(SslProvider.JDK)
            .protocols(protocols.length == 0 ? null : protocols).build();
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress("127.0.0.1", 0);
    }

    @Test
    void asAProgram() throws Exception {
        ExampleRun run = ExampleRun.toEnd("tls-echo", "--bytes", "2MiB").ended(0);
        run.has("provider=" + Rpma.provider().name());
        run.has("tls=TLSv1.3 TLS_.*");
        run.has("sent=2097152 bytes");
        run.has("received=2097152 bytes");
        run.has("checksum=[0-9a-f]{8} match");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void aStreamAndAnOrderlyEnd(String protocol) throws Exception {
        X509Bundle certificate = TlsEchoExample.selfSigned();
        Channel server = TlsEchoExample.startServer(group, anyPort(), serverTls(certificate));
        ChecksumHandler checksums = new ChecksumHandler();
        Channel client = TlsEchoExample.connect(group, (InetSocketAddress) server.localAddress(),
            clientTls(certificate, protocol), checksums);
        SslHandler tls = client.pipeline().get(SslHandler.class);
        tls.handshakeFuture().sync();
        assertEquals(protocol, tls.engine().getSession().getProtocol());

        new StreamPhase(5 << 20, new RandomBytes(3)).start(client).sync();
        EchoReport seen = client.eventLoop().submit(checksums::report).sync().getNow();
        assertEquals(5 << 20, seen.received());
        assertEquals(seen.sent(), seen.received());
        assertEquals(seen.sentChecksum(), seen.receivedChecksum());

        // The server answers the client's close_notify with its own one before either end closes.
        CompletableFuture<SslCloseCompletionEvent> closed = new CompletableFuture<>();
        client.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof SslCloseCompletionEvent completion) {
                    closed.complete(completion);
                }
            }
        });
        tls.closeOutbound().sync();
        assertTrue(closed.get(30, TimeUnit.SECONDS).isSuccess(), () -> closed.join().toString());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
        server.close().sync();
    }

    @Test
    void aCertificateThatIsNotTrustedIsRefused() throws Exception {
        Channel server = TlsEchoExample.startServer(group, anyPort(), serverTls(TlsEchoExample.selfSigned()));
        X509Bundle another = TlsEchoExample.selfSigned();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Channel client = TlsEchoExample.connect(group, (InetSocketAddress) server.localAddress(), clientTls(another),
            new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    failure.complete(cause);
                }
            });
        assertThrows(SSLHandshakeException.class, () -> client.pipeline().get(SslHandler.class).handshakeFuture().sync());
        assertInstanceOf(SSLHandshakeException.class, failure.get(30, TimeUnit.SECONDS).getCause());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS), "the connection stayed open");
        server.close().sync();
    }
}
