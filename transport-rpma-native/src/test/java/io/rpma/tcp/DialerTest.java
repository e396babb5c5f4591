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

import io.rpma.ConnectionConfig;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what a client may find at an address instead of a listener of this provider. */
@Timeout(120)
class DialerTest {
    /** The timeout for a server that sends something. It does not expire on a busy machine. */
    private static final int PATIENT_MILLIS = 60_000;
    /** The timeout for a server that sends nothing. */
    private static final int SILENT_MILLIS = 2_000;

    /** The result of a client. */
    private record Outcome(RpmaException failure, byte[] received) {
    }

    /** Connects to a TCP server that sends the given bytes and then shuts down its output, unless it must stay open. */
    private static Outcome connect(byte[] words, boolean open) throws Exception {
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
            RpmaException failure = null;
            try {
                peer.newConnectionRequest(new InetSocketAddress(loopback, listener.getLocalPort()), config).close();
            } catch (RpmaException e) {
                failure = e;
            }
            return new Outcome(failure, received.get(30, TimeUnit.SECONDS));
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

    private static void assertRefused(String why, byte[] words, boolean open) throws Exception {
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
        assertEquals(null, outcome.failure());
        assertEquals(0, outcome.received().length, "data was sent before the application connected");
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
        assertEquals(null, connect(join(soft(256), greeting()), true).failure());
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
        assertEquals(null, connect(longer, true).failure());
    }

    @Test
    void badPortsAreRefused() throws Exception {
        try (Peer peer = TcpProvider.instance().devices().getFirst().newPeer()) {
            assertEquals(RpmaError.INVALID, assertThrows(RpmaException.class, () ->
                peer.newConnectionRequest(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), null)).error());
        }
    }
}
