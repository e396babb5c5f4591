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
package io.rpma.tcp;

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Tests what a client may find at an address instead of a listener of this provider, with a request that waits for the greeting
 * and with one that does not.
 */
@Timeout(120)
@ParameterizedClass
@ValueSource(booleans = {true, false})
class DialerTest {
    /** The timeout for a server that sends something. It does not expire on a busy machine. */
    private static final int PATIENT_MILLIS = 60_000;
    /** The timeout for a host that never answers. */
    private static final int SHORT_MILLIS = 300;
    /** The timeout for a server that sends nothing. */
    private static final int SILENT_MILLIS = 2_000;

    @Parameter
    boolean waits;

    /** The result of a client. */
    private record Outcome(RpmaException failure, byte[] received) {
    }

    /** Connects to a TCP server that sends the given bytes and then shuts down its output, unless it must stay open. */
    private Outcome connect(byte[] words, boolean open) throws Exception {
        RpmaProvider provider = TcpProvider.instance();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        try (ServerSocket listener = new ServerSocket(0, 1, loopback); Peer peer = provider.devices().getFirst().newPeer();
                ConnectionConfig config = provider.newConnectionConfig()
                    .timeoutMillis(words.length == 0 ? SILENT_MILLIS : PATIENT_MILLIS)) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket client = listener.accept()) {
                    client.getOutputStream().write(words);
                    if (!open) {
                        client.shutdownOutput();
                    }
                    received.complete(hear(client));
                } catch (IOException e) {
                    received.completeExceptionally(e);
                }
            });
            InetSocketAddress address = new InetSocketAddress(loopback, listener.getLocalPort());
            RpmaException failure = waits ? request(peer, address, config) : connect(peer, address, config);
            return new Outcome(failure, received.get(30, TimeUnit.SECONDS));
        }
    }

    /** Prepares a request, which waits for the greeting. Returns why that is not possible, or {@code null}. */
    private static RpmaException request(Peer peer, InetSocketAddress address, ConnectionConfig config) {
        try {
            peer.newConnectionRequest(address, config).close();
            return null;
        } catch (RpmaException e) {
            return e;
        }
    }

    /** Connects without waiting. Returns why there is no connection; {@code null} if the listener has greeted. */
    private static RpmaException connect(Peer peer, InetSocketAddress address, ConnectionConfig config) throws Exception {
        try (ConnectionRequest request = peer.tryNewConnectionRequest(address, config);
                Connection connection = request.connect(null)) {
            Handshake handshake = (Handshake) Station.field(connection, "handshake");
            ConnectionEvent event = null;
            while (event == null && !handshake.isRequested()) {
                assertNotEquals(0, Sockets.poll(connection.eventFd(), (short) Sockets.EPOLLIN, 60_000));
                event = connection.nextEvent();
            }
            RpmaException failure = connection.failure();
            assertEquals(failure == null ? null : ConnectionEvent.REJECTED, event);
            return failure;
        }
    }

    /**
     * Returns what a client sends before it closes the connection, or before it resets the connection because it has received
     * enough.
     */
    private static byte[] hear(Socket client) {
        ByteArrayOutputStream heard = new ByteArrayOutputStream();
        try {
            for (int one = client.getInputStream().read(); one >= 0; one = client.getInputStream().read()) {
                heard.write(one);
            }
        } catch (IOException e) {
            return heard.toByteArray();
        }
        return heard.toByteArray();
    }

    private void assertRefused(String why, byte[] words, boolean open) throws Exception {
        Outcome outcome = connect(words, open);
        assertEquals(RpmaError.PROVIDER, outcome.failure().error());
        assertTrue(outcome.failure().getMessage().contains(why), outcome.failure().getMessage());
        assertEquals(0, outcome.received().length, "the other server received data");
    }

    private static byte[] greeting() {
        return Greeting.own().write();
    }

    private static byte[] soft(int size) {
        return ByteBuffer.allocate(size).put("RPMASOFT".getBytes(StandardCharsets.US_ASCII)).putInt(11).putInt(size).array();
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @Test
    void aGreetingIsEnough() throws Exception {
        Outcome outcome = connect(greeting(), true);
        assertNull(outcome.failure());
        assertEquals(waits ? 0 : Greeting.REQUEST_SIZE, outcome.received().length, "only connecting sends the request");
    }

    @Test
    void whatFollowsAGreetingIsNotRead() throws Exception {
        assertRefused("followed by data", join(greeting(), new byte[] {1}), true);
    }

    @Test
    void aHostThatDoesNotAnswerIsNotWaitedForLong() throws Exception {
        RpmaProvider provider = TcpProvider.instance();
        // A listener whose queue of clients is full does not answer.
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket first = new Socket(listener.getInetAddress(), listener.getLocalPort());
                Socket second = new Socket(listener.getInetAddress(), listener.getLocalPort());
                Peer peer = provider.devices().getFirst().newPeer();
                ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(SHORT_MILLIS)) {
            InetSocketAddress address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
            RpmaException failure;
            if (waits) {
                failure = request(peer, address, config);
            } else {
                try (ConnectionRequest request = peer.tryNewConnectionRequest(address, config);
                        Connection connection = request.connect(null)) {
                    assertEquals(ConnectionEvent.UNREACHABLE, connection.waitForEvent(Duration.ofSeconds(60)));
                    failure = connection.failure();
                }
            }
            assertEquals(Posix.ETIMEDOUT, failure.errno());
            assertTrue(first.isConnected() && second.isConnected());
        }
    }

    @Test
    void aServerThatClosesAtOnceIsNoListener() throws Exception {
        // The same as if nobody listened: the event says so, and there is no reason beside it.
        RpmaProvider provider = TcpProvider.instance();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Peer peer = provider.devices().getFirst().newPeer();
                ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(PATIENT_MILLIS)) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    listener.accept().close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            InetSocketAddress address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
            try (ConnectionRequest request = waits ? peer.newConnectionRequest(address, config)
                    : peer.tryNewConnectionRequest(address, config); Connection connection = request.connect(null)) {
                assertEquals(ConnectionEvent.REJECTED, connection.waitForEvent(Duration.ofSeconds(60)));
                assertNull(connection.failure());
            }
        }
    }

    @Test
    void aServerThatSpeaksFirstIsQuoted() throws Exception {
        assertRefused("begins with 'SSH-2.0-OpenSSH_'", "SSH-2.0-OpenSSH_9.2p1\r\n".getBytes(StandardCharsets.US_ASCII), true);
    }

    @Test
    void aSilentServerIsNotWaitedForLong() throws Exception {
        long begin = System.nanoTime();
        assertRefused("it sent nothing in time", new byte[0], true);
        assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(30));
    }

    @Test
    void aServerOfFewWordsIsQuotedToo() throws Exception {
        assertRefused("it sent only '220'", "220".getBytes(StandardCharsets.US_ASCII), false);
    }

    @Test
    void aListenerOfAnotherVersionIsNamed() throws Exception {
        byte[] greeting = greeting();
        greeting[8] = 3;
        greeting[10] = 4;
        assertRefused("speaks versions 3 to 4", greeting, true);
    }

    @Test
    void aGreetingCutShortIsNone() throws Exception {
        for (int length = 1; length < Greeting.SIZE; length += 3) {
            byte[] cut = Arrays.copyOf(greeting(), length);
            RpmaException failure = connect(cut, false).failure();
            assertTrue(failure.getMessage().contains("does not speak software RDMA over TCP"), failure.getMessage());
        }
    }

    @Test
    void softsHelloInFrontIsSkipped() throws Exception {
        assertNull(connect(join(soft(256), greeting()), true).failure());
    }

    @Test
    void aListenerThatIsSoftAloneIsNamed() throws Exception {
        assertRefused("use the provider soft on the same host", soft(256), false);
    }

    @Test
    void softsHelloHasABound() throws Exception {
        byte[] endless = soft(256);
        endless[12] = 0x7f;
        assertRefused("continues differently", endless, true);
    }

    @Test
    void aLongerGreetingIsOfALaterVersion() throws Exception {
        byte[] longer = Arrays.copyOf(greeting(), 100);
        longer[12] = 100;
        assertNull(connect(longer, true).failure());
    }

    @Test
    void badPortsAreRefused() throws Exception {
        try (Peer peer = TcpProvider.instance().devices().getFirst().newPeer()) {
            InetSocketAddress noPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            assertEquals(RpmaError.INVALID, assertThrows(RpmaException.class, () -> {
                if (waits) {
                    peer.newConnectionRequest(noPort, null);
                } else {
                    peer.tryNewConnectionRequest(noPort, null);
                }
            }).error());
        }
    }
}
