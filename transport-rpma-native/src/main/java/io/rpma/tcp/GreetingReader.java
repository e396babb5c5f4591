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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the greeting of a listener as it arrives. The hello of the provider soft, which may precede it, is skipped. If something
 * else listens at the address, the exceptions say what it has sent.
 */
final class GreetingReader {
    /** The start of the hello of the provider soft; its size is at offset SOFT_SIZE. */
    private static final byte[] SOFT = "RPMASOFT".getBytes(StandardCharsets.US_ASCII);
    private static final int SOFT_SIZE = 12;
    private static final int START = 16;

    private final InetSocketAddress remote;
    private Part part = Part.START;
    private byte[] bytes = new byte[START];
    private int have;
    private Greeting greeting;

    /** What is read next. */
    private enum Part {
        /** The first bytes of the greeting, or of the hello of soft. */
        START,
        /** The rest of the hello of soft. */
        SOFT,
        /** The first bytes of the greeting after the hello of soft. */
        START_AFTER_SOFT,
        /** The rest of the greeting as this release knows it; the start is before it in the array. */
        REST,
        /** What a later release has added to the greeting. */
        EXTENSION,
        /** Nothing: the greeting is complete. */
        NONE
    }

    GreetingReader(InetSocketAddress remote) {
        this.remote = remote;
    }

    /** Returns the greeting if it is complete, otherwise {@code null}. */
    Greeting greeting() {
        return part == Part.NONE ? greeting : null;
    }

    /**
     * Takes bytes that have been read.
     *
     * @throws RpmaException if they cannot be those of a greeting that this release understands
     */
    void add(long address, int count) throws RpmaException {
        int taken = 0;
        while (taken < count) {
            if (part == Part.NONE) {
                throw stranger("its greeting is followed by data that the client has not asked for");
            }
            bytes[have++] = Memory.getByte(address + taken++);
            // The next part may have no bytes.
            while (part != Part.NONE && have == bytes.length) {
                completed();
            }
        }
    }

    private void completed() throws RpmaException {
        switch (part) {
            case START -> {
                if (startsWith(SOFT)) {
                    begin(Part.SOFT, sizeOfSoft() - START);
                } else {
                    started();
                }
            }
            case SOFT -> begin(Part.START_AFTER_SOFT, START);
            case START_AFTER_SOFT -> started();
            case REST -> {
                greeting = Greeting.read(bytes);
                if (greeting == null) {
                    throw stranger("its greeting is invalid");
                }
                begin(Part.EXTENSION, greeting.size() - Greeting.SIZE);
            }
            default -> {
                check();
                begin(Part.NONE, 0);
            }
        }
    }

    private void begin(Part next, int length) {
        part = next;
        bytes = new byte[length];
        have = 0;
    }

    private void started() throws RpmaException {
        if (!startsWith(Greeting.MAGIC)) {
            throw stranger("its data begins with " + words(bytes));
        }
        part = Part.REST;
        bytes = Arrays.copyOf(bytes, Greeting.SIZE);
    }

    private boolean startsWith(byte[] magic) {
        return Arrays.equals(bytes, 0, magic.length, magic, 0, magic.length);
    }

    private int sizeOfSoft() throws RpmaException {
        // In network order.
        int size = (bytes[SOFT_SIZE] & 0xff) << 24 | (bytes[SOFT_SIZE + 1] & 0xff) << 16 | (bytes[SOFT_SIZE + 2] & 0xff) << 8
            | bytes[SOFT_SIZE + 3] & 0xff;
        if (size < START || size > Greeting.MAX_SIZE) {
            throw stranger("its data begins like that of software RDMA within one host, but continues differently");
        }
        return size;
    }

    private void check() throws RpmaException {
        if (!greeting.isUnderstood()) {
            throw TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " speaks versions "
                + greeting.lowest() + " to " + greeting.highest() + " of software RDMA over TCP, with " + greeting.reads()
                + " concurrent reads and messages of up to " + greeting.maxMessage() + " bytes; this release speaks versions "
                + Greeting.OLDEST + " to " + Greeting.VERSION + ", with " + Wire.MAX_READS + " and " + Limits.MAX_MESSAGE
                + ": use the same release on both sides", null);
        }
    }

    /**
     * Returns the failure of a connection that the other side has closed before the greeting was complete; {@code null} if it has
     * sent nothing, which means that there is no listener any more.
     */
    RpmaException closed() {
        if (part == Part.START_AFTER_SOFT && have == 0) {
            return TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " is software RDMA"
                + " within one host (the provider soft), which does not speak TCP: use the provider soft on the same host, or"
                + " tcp on both sides", null);
        }
        String received = received();
        return received == null ? null : stranger("it sent only " + received + " and then closed the connection");
    }

    /** Returns the failure of a connection on which the greeting is not complete when it has to be. */
    RpmaException late() {
        String received = received();
        return stranger("it sent " + (received == null ? "nothing" : "only " + received) + " in time");
    }

    /** Returns what has arrived, as a part of a sentence; {@code null} if nothing has. */
    private String received() {
        return switch (part) {
            case START -> have == 0 ? null : words(Arrays.copyOf(bytes, have));
            case SOFT, START_AFTER_SOFT -> "the beginning of a greeting of software RDMA within one host";
            default -> "a part of a greeting";
        };
    }

    private RpmaException stranger(String what) {
        return TcpLog.failure(RpmaError.PROVIDER, Posix.EPROTONOSUPPORT, "the listener at " + remote + " does not speak software"
            + " RDMA over TCP: " + what + ". Both ends need RPMA with the provider tcp; if one end cannot use it, run tcp-proxy"
            + " in between", null);
    }

    /** Returns bytes as printable text. */
    private static String words(byte[] bytes) {
        StringBuilder words = new StringBuilder("'");
        for (byte one : bytes) {
            words.append(one >= ' ' && one < 0x7f ? String.valueOf((char) one) : String.format("\\x%02x", one & 0xff));
        }
        return words.append('\'').toString();
    }
}
