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
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A client that consists only of a socket, and sends whatever a test requests. */
final class RawClient implements AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;

    private RawClient(InetSocketAddress address, int receiveBuffer) throws IOException {
        socket = new Socket();
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        socket.connect(address, 30_000);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Connects and sends nothing. */
    static RawClient connect(InetSocketAddress address) throws IOException {
        return new RawClient(address, 0);
    }

    /** Connects, reads the greeting and sends the request. */
    static RawClient requesting(InetSocketAddress address) throws IOException {
        return requesting(address, 0);
    }

    /** Does the same with a socket that holds few bytes until the test reads them; 0 stands for the system's default. */
    static RawClient requesting(InetSocketAddress address, int receiveBuffer) throws IOException {
        RawClient client = new RawClient(address, receiveBuffer);
        client.read(Greeting.SIZE);
        client.write(request());
        return client;
    }

    static byte[] request() {
        return Greeting.request(Greeting.VERSION).write();
    }

    byte[] read(int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /** Reads the acceptance, and confirms the connection. */
    void establish() throws IOException {
        assertEquals(Wire.ACCEPT, read(Wire.HEADER + ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA)[0]);
        write(frame(Wire.READY, 0, 0, 0, 0, 0, 0, 0));
    }

    /** Reads some bytes; returns how many, or -1 at the end. */
    int read(byte[] into) throws IOException {
        return in.read(into);
    }

    /** Returns the number of bytes that can be read without waiting. */
    int available() throws IOException {
        return in.available();
    }

    /** Returns the next byte, or -1 at the end. */
    int next() throws IOException {
        return in.read();
    }

    void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    void write(byte[] bytes, int length) throws IOException {
        socket.getOutputStream().write(bytes, 0, length);
    }

    static byte[] frame(int type, int flags, int length, int number, int acknowledged, long address, long key, int immediate,
            byte... payload) {
        return ByteBuffer.allocate(Wire.HEADER + payload.length).order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) type).put((byte) flags).putShort((short) 0).putInt(length).putInt(number).putInt(acknowledged)
            .putLong(address).putLong(key).putInt(immediate).putInt(0).put(payload).array();
    }

    /** Resets the connection. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** Ends the sending direction. */
    void endSending() throws IOException {
        socket.shutdownOutput();
    }

    /** Closes the socket before the test is over. */
    void hangUp() throws IOException {
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
