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

package io.rpma.soft.control;

import io.rpma.ConnectionConfig;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.soft.SoftProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what a client of the software provider may find at an address instead of a listener of this host. */
@Timeout(120)
class StrangeListenerTest {
    /** Connects to a TCP listener that answers with the given bytes. Returns why the connection failed. */
    private static RpmaException connect(byte[] answer) throws Exception {
        RpmaProvider provider = SoftProvider.instance();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket listener = new ServerSocket(0, 1, loopback);
                Peer peer = provider.localDevice(loopback).newPeer();
                ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(60_000)) {
            Thread.ofPlatform().daemon().start(() -> answer(listener, answer));
            // On a busy machine, the answer may take longer than a listener of this provider would take.
            Rendezvous.helloNanos = TimeUnit.SECONDS.toNanos(60);
            return assertThrows(RpmaException.class, () ->
                peer.newConnectionRequest(new InetSocketAddress(loopback, listener.getLocalPort()), config));
        } finally {
            Rendezvous.helloNanos = Rendezvous.HELLO_NANOS;
        }
    }

    private static void answer(ServerSocket listener, byte[] bytes) {
        try (Socket client = listener.accept()) {
            client.getOutputStream().write(bytes);
            client.getOutputStream().flush();
            client.shutdownOutput();
            client.getInputStream().readAllBytes();
        } catch (IOException e) {
            // The client closes the connection as soon as it has read enough.
            return;
        }
    }

    @Test
    void aListenerOfAnotherHostNeedsAnotherProvider() throws Exception {
        byte[] host = new byte[Hello.HOST_SIZE];
        host[0] = 1;
        RpmaException failure = connect(new Hello(ControlMessage.VERSION, host, "elsewhere").write());
        assertEquals(RpmaError.PROVIDER, failure.error());
        assertTrue(failure.getMessage().contains("within one host only; use the providers librpma or tcp to reach other hosts"),
            failure.getMessage());
    }

    @Test
    void anAddressOfAnotherHostNeedsAnotherProviderWhoeverListensThere() throws Exception {
        RpmaException failure = Rendezvous.unreachable(new InetSocketAddress("192.0.2.1", 7), 111);
        assertEquals(111, failure.errno());
        assertTrue(failure.getMessage().contains("within one host only; use the providers librpma or tcp to reach other hosts"),
            failure.getMessage());
    }

    @Test
    void aListenerOfAnotherVersionIsNamed() throws Exception {
        RpmaException failure = connect(new Hello(ControlMessage.VERSION + 1, new byte[Hello.HOST_SIZE], "x").write());
        assertEquals(RpmaError.PROVIDER, failure.error());
        assertTrue(failure.getMessage().contains(String.valueOf(ControlMessage.VERSION + 1)), failure.getMessage());
    }

    @Test
    void aServerOfSomethingElseIsNotSpokenTo() throws Exception {
        RpmaException failure = connect("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertEquals(RpmaError.PROVIDER, failure.error());
        assertTrue(failure.getMessage().contains("does not speak"), failure.getMessage());
    }

    /** Such a server waits for data from its client, and must not receive any. */
    @Test
    void aSilentServerIsSentNothingAndNotWaitedFor() throws Exception {
        RpmaProvider provider = SoftProvider.instance();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        try (ServerSocket listener = new ServerSocket(0, 1, loopback);
                Peer peer = provider.localDevice(loopback).newPeer();
                // The timeout is longer than this test may take.
                ConnectionConfig config = provider.newConnectionConfig().timeoutMillis(100_000)) {
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket client = listener.accept()) {
                    received.complete(client.getInputStream().readAllBytes());
                } catch (IOException e) {
                    received.completeExceptionally(e);
                }
            });
            RpmaException failure = assertThrows(RpmaException.class, () ->
                peer.newConnectionRequest(new InetSocketAddress(loopback, listener.getLocalPort()), config));
            assertTrue(failure.getMessage().contains("most likely it is a TCP server"), failure.getMessage());
            assertEquals(0, received.get(30, TimeUnit.SECONDS).length);
        }
    }
}
