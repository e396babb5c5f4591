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

import io.rpma.ConnectionRequest;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A server of one client that consists only of a socket, and sends whatever a test requests. */
final class RawServer implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final CompletableFuture<Socket> greeted = new CompletableFuture<>();
    private Socket socket;
    private DataInputStream in;

    /** Listens, and greets the client when it connects. */
    RawServer() throws IOException {
        this(Greeting.own());
    }

    /** Does the same with another greeting. */
    RawServer(Greeting greeting) throws IOException {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Socket client = listener.accept();
                client.setSoTimeout(10_000);
                client.setTcpNoDelay(true);
                client.getOutputStream().write(greeting.write());
                greeted.complete(client);
            } catch (IOException e) {
                greeted.completeExceptionally(e);
            }
        });
    }

    InetSocketAddress address() {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    /** Reads the request of the client, and accepts it. Returns the request. */
    Greeting accept() throws IOException, InterruptedException, ExecutionException, TimeoutException {
        Greeting request = readRequest();
        int length = ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA;
        write(RawClient.frame(Wire.ACCEPT, 0, length, 0, 0, 0, 0, 0, new byte[length]));
        return request;
    }

    /** Reads the request of the client, and rejects it. */
    void reject(String reason) throws IOException, InterruptedException, ExecutionException, TimeoutException {
        readRequest();
        byte[] words = reason.getBytes(StandardCharsets.UTF_8);
        write(RawClient.frame(Wire.REJECT, 0, words.length, 0, 0, 0, 0, 0, words));
    }

    private Greeting readRequest() throws IOException, InterruptedException, ExecutionException, TimeoutException {
        socket = greeted.get(10, TimeUnit.SECONDS);
        in = new DataInputStream(socket.getInputStream());
        return Greeting.read(read(Greeting.REQUEST_SIZE));
    }

    byte[] read(int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Resets the connection, or ends it if everything that the client has sent has been read. */
    void hangUp() throws IOException {
        socket.close();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        if (socket != null) {
            socket.close();
        }
    }
}
