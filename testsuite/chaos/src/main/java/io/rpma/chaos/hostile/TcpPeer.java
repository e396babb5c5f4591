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

package io.rpma.chaos.hostile;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * A client of the provider {@code tcp} that consists only of a socket, and sends arbitrary frames. It is written after
 * docs/tcp-protocol.md and shares no code with the provider.
 */
final class TcpPeer implements AutoCloseable {
    static final int HEADER = 40;
    static final int ACCEPT = 2;
    static final int READY = 4;
    static final int SEND = 5;
    static final int WRITE = 6;
    static final int READ = 7;
    static final int READ_DATA = 8;
    static final int ATOMIC_WRITE = 9;
    static final int FLUSH = 10;
    static final int ACK = 13;
    static final int NAK = 14;
    static final int NOT_READY = 15;
    static final int RESUME = 16;
    static final int WANTED = 2;
    static final int ONCE = 4;
    static final int UNKNOWN = 99;

    private static final int GREETING = 64;
    private static final int REQUEST = 128;
    /** The offset of the size in a greeting and in a request. */
    private static final int SIZE = 12;
    /** The first bytes of the hello of the provider {@code soft}, {@code RPMASOFT}. */
    private static final long SOFT_MAGIC = 0x52504d41_534f4654L;
    private static final int SMALLEST_BUFFER = 4096;
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    /** How long the server may take to end a connection. It closes a connection that is silent after 15 s. */
    private static final long END_NANOS = 12_000_000_000L;
    /** The offset of the oldest version in a greeting, which the newest one follows. A request has the same value twice. */
    private static final int VERSIONS = 8;
    private static final long NAP_NANOS = 100_000;

    private final SocketChannel socket;
    private final ByteBuffer in = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long patience = PATIENCE_NANOS;
    private int type;
    private int left;
    private int messages;

    /** Connects, and sends nothing. The socket has room for few bytes that have not been read. */
    TcpPeer(InetSocketAddress to) throws IOException {
        socket = SocketChannel.open();
        try {
            socket.setOption(StandardSocketOptions.SO_RCVBUF, SMALLEST_BUFFER);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            socket.connect(to);
            socket.configureBlocking(false);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Reads the greeting, and returns the request that matches it, without private data. */
    byte[] request() throws IOException {
        have(GREETING);
        if (in.order(ByteOrder.BIG_ENDIAN).getLong(in.position()) == SOFT_MAGIC) {
            // The server also listens on shared memory, whose hello precedes the greeting on the same port.
            int hello = in.getInt(in.position() + SIZE);
            have(hello + GREETING);
            in.position(in.position() + hello);
        }
        in.order(ByteOrder.LITTLE_ENDIAN);
        byte[] request = new byte[REQUEST];
        in.get(request, 0, GREETING);
        ByteBuffer words = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN).putInt(SIZE, REQUEST);
        words.putShort(VERSIONS, words.getShort(VERSIONS + Short.BYTES));
        return request;
    }

    /** Connects as an honest client does. */
    void establish() throws IOException {
        write(request());
        if (next() != ACCEPT) {
            throw new IOException("the server has answered with a frame of the type " + type);
        }
        skip();
        write(frame(READY, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    /** Returns a frame whose payload consists of the same byte. The length in the header need not be that of the payload. */
    static byte[] frame(int type, int flags, int length, int number, int acknowledged, long address, long key, int immediate,
            int payload, byte... fill) {
        ByteBuffer frame = ByteBuffer.allocate(HEADER + payload).order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) type).put((byte) flags).putShort((short) 0).putInt(length).putInt(number).putInt(acknowledged)
            .putLong(address).putLong(key).putInt(immediate).putInt(0);
        while (frame.hasRemaining()) {
            frame.put(fill[0]);
        }
        return frame.array();
    }

    /** Writes all bytes, although the server may not read them immediately. */
    void write(byte[] bytes) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(bytes);
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (out.hasRemaining()) {
            if (socket.write(out) == 0) {
                await(end);
            }
        }
    }

    /** Reads the header of the next frame, and returns its type. The echo server sends no frame with a length but no payload. */
    int next() throws IOException {
        have(HEADER);
        int start = in.position();
        type = in.get(start);
        left = in.getInt(start + 4);
        in.position(start + HEADER);
        return type;
    }

    /** Reads the payload of the frame. */
    private void skip() throws IOException {
        while (left > 0) {
            payload((byte) 0);
        }
    }

    /** Reads a part of the payload of the frame, and returns how many of its bytes differ from a value. */
    private int payload(byte expected) throws IOException {
        if (!in.hasRemaining()) {
            fill();
        }
        int different = 0;
        for (; left > 0 && in.hasRemaining(); left--) {
            if (in.get() != expected) {
                different++;
            }
        }
        return different;
    }

    /**
     * Reads everything that the server sends until it ends the connection.
     *
     * @param expected the value of every byte of every message
     * @return the number of bytes of messages that have another value
     */
    long readToTheEnd(byte expected) throws IOException {
        long different = 0;
        patience = END_NANOS;
        try {
            for (;;) {
                if (next() == SEND) {
                    messages++;
                }
                while (left > 0) {
                    int wrong = payload(expected);
                    different += type == SEND ? wrong : 0;
                }
            }
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            // The server has ended or reset the connection.
            return different;
        }
    }

    /** Returns how many messages {@link #readToTheEnd} has read. */
    int messages() {
        return messages;
    }

    private void have(int bytes) throws IOException {
        while (in.remaining() < bytes) {
            fill();
        }
    }

    private void fill() throws IOException {
        in.compact();
        long end = System.nanoTime() + patience;
        try {
            int n = socket.read(in);
            while (n == 0) {
                await(end);
                n = socket.read(in);
            }
            if (n < 0) {
                throw new EOFException();
            }
        } finally {
            in.flip();
        }
    }

    private static void await(long end) throws SocketTimeoutException {
        if (System.nanoTime() > end) {
            throw new SocketTimeoutException();
        }
        LockSupport.parkNanos(NAP_NANOS);
    }

    /** Ends this half of the connection. */
    void shutdown() throws IOException {
        socket.shutdownOutput();
    }

    /** Closes the socket by a reset. */
    void reset() throws IOException {
        socket.setOption(StandardSocketOptions.SO_LINGER, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
