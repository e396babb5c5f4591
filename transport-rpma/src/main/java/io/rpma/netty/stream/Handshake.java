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

package io.rpma.netty.stream;

import io.rpma.ConnectionRequest;
import io.rpma.netty.memory.Fabric;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The handshake that both ends of a stream exchange in the private data before the first message: the protocol, its version,
 * and the limits of each end. The peer's values are checked before they are used. See {@code docs/protocol.md}.
 *
 * @param minor the minor version of the end
 * @param status 0, or why the accepting end will close the connection immediately
 * @param messageBytes the longest message that the end can receive
 * @param credits how many messages of data it can receive before it returns credits
 * @param bulkBytes the largest area in bytes that it grants for large data, 0 for none
 * @param prefixed whether the end has no immediate data, so that the 32 bits of each message are sent in front of its payload
 * @param data the application's private data, or the reason of a refusal; possibly empty
 */
public record Handshake(int minor, int status, int messageBytes, int credits, int bulkBytes, boolean prefixed, ByteBuffer data) {
    public static final int MAGIC = 0x4e52504d;
    static final int MAJOR = 1;
    public static final int MINOR = 3;
    public static final int BYTES = 16;

    public static final int ACCEPTED = 0;
    public static final int REFUSED_VERSION = 1;
    public static final int REFUSED_MALFORMED = 2;
    public static final int REFUSED_BY_APPLICATION = 3;

    static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    /** The minor version that introduced the application's data. */
    private static final int MINOR_OF_DATA = 2;
    /** The minor version that introduced messages without immediate data. */
    private static final int MINOR_OF_PREFIX = 3;
    /** The flag for a prefix in front of each payload. */
    private static final int PREFIXED = 1;
    /** The largest number of bytes of application data in a request; one byte in front of them contains their number. */
    public static final int MAX_REQUEST_DATA = ConnectionRequest.MAX_CONNECT_PRIVATE_DATA - BYTES - 1;
    /** The largest number of bytes of application data in an answer. */
    public static final int MAX_ANSWER_DATA = ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA - BYTES - 1;

    public static final int MIN_MESSAGE_BYTES = 64;
    public static final int MAX_MESSAGE_BYTES = 1 << 22;
    public static final int MAX_BULK_BYTES = 1 << 22;
    /** The unit of sizes of large data, as a power of two: 64 KiB. */
    public static final int BULK_UNIT_SHIFT = 16;

    /** Creates a handshake without application data. */
    public Handshake(int minor, int status, int messageBytes, int credits, int bulkBytes) {
        this(minor, status, messageBytes, credits, bulkBytes, false, ByteBuffer.allocate(0));
    }

    /**
     * Returns the handshake of an end.
     *
     * @param prefixed whether it has no immediate data, or its client has none
     * @param data the data of its application, at most {@link #MAX_REQUEST_DATA} or {@link #MAX_ANSWER_DATA} bytes
     */
    static Handshake of(StreamSizes sizes, boolean prefixed, ByteBuffer data) {
        return new Handshake(MINOR, ACCEPTED, sizes.messageBytes(), sizes.credits(), sizes.bulkBytes(), prefixed, data);
    }

    public static Handshake refusal(int status) {
        return refusal(status, ByteBuffer.allocate(0));
    }

    public static Handshake refusal(int status, ByteBuffer reason) {
        return new Handshake(MINOR, status, 0, 0, 0, false, reason);
    }

    /** Returns the private data that contains this handshake. */
    public ByteBuffer encode() {
        int bytes = data.remaining();
        ByteBuffer out = ByteBuffer.allocate(bytes == 0 ? BYTES : BYTES + 1 + bytes);
        out.putInt(MAGIC).put((byte) MAJOR).put((byte) minor).put((byte) status)
            .put((byte) (prefixed ? PREFIXED : 0));
        out.putInt(messageBytes).putShort((short) credits).putShort((short) (bulkBytes >>> BULK_UNIT_SHIFT));
        if (bytes != 0) {
            out.put((byte) bytes).put(data.duplicate());
        }
        return out.flip();
    }

    /**
     * Decodes the peer's handshake.
     *
     * @param data the private data, whose length has no meaning because devices pad it
     * @return the handshake, with every number within its limits, unless {@link #status()} is a refusal
     * @throws MismatchException if the peer does not use this protocol, or not in this version
     */
    public static Handshake decode(ByteBuffer data) throws MismatchException {
        ByteBuffer in = data.duplicate();
        if (in.remaining() < BYTES || in.getInt() != MAGIC) {
            throw new MismatchException(REFUSED_MALFORMED, "the private data does not begin with the magic number of the"
                + " stream protocol: the peer is not a channel of this transport; it may be a program that uses librpma"
                + " directly");
        }
        int major = in.get() & 0xff;
        int minor = in.get() & 0xff;
        if (major != MAJOR) {
            throw new MismatchException(REFUSED_VERSION, "the peer speaks version " + major + "." + minor
                + " of the stream protocol, this end speaks version " + MAJOR + "." + MINOR + ": use the same major version on"
                + " both ends");
        }
        int status = in.get() & 0xff;
        int flags = in.get();
        int messageBytes = in.getInt();
        int credits = in.getShort() & 0xffff;
        int bulkUnits = in.getShort() & 0xffff;
        ByteBuffer said = minor >= MINOR_OF_DATA ? applicationData(in) : NO_DATA;
        if (status != ACCEPTED) {
            return refusal(status, said);
        }
        if (messageBytes < MIN_MESSAGE_BYTES || messageBytes > MAX_MESSAGE_BYTES) {
            throw new MismatchException(REFUSED_MALFORMED, "the peer receives messages of " + messageBytes
                + " bytes; allowed are " + MIN_MESSAGE_BYTES + " to " + MAX_MESSAGE_BYTES);
        }
        if (credits < 1 || credits > Immediate.MAX_CREDITS) {
            throw new MismatchException(REFUSED_MALFORMED, "the peer grants " + credits + " credits; allowed are 1 to "
                + Immediate.MAX_CREDITS);
        }
        if (bulkUnits > MAX_BULK_BYTES >>> BULK_UNIT_SHIFT) {
            throw new MismatchException(REFUSED_MALFORMED, "the peer grants areas of " + bulkUnits
                + " times 64 KiB; allowed are 0 to " + (MAX_BULK_BYTES >>> BULK_UNIT_SHIFT));
        }
        return new Handshake(minor, ACCEPTED, messageBytes, credits, bulkUnits << BULK_UNIT_SHIFT,
            minor >= MINOR_OF_PREFIX && (flags & PREFIXED) != 0, said);
    }

    /**
     * Checks that the peer supports messages without immediate data, if this end has no immediate data.
     *
     * @param fabric the fabric of this end
     * @throws MismatchException if it does not
     */
    public void requireFor(Fabric fabric) throws MismatchException {
        if (!fabric.hasImmediateData() && minor < MINOR_OF_PREFIX) {
            throw new MismatchException(REFUSED_VERSION, "the peer speaks version " + MAJOR + "." + minor + " of the stream"
                + " protocol, which needs immediate data, but the RDMA device " + fabric + " does not support it: update the"
                + " peer, so that both ends speak version " + MAJOR + "." + MINOR_OF_PREFIX + " or a later one");
        }
    }

    /**
     * Returns whether the 32 bits of each message are sent in front of its payload, which is so if one of the two ends has no
     * immediate data. Both ends come to the same result.
     *
     * @param fabric the fabric of the end that did not send this handshake
     */
    boolean isPrefixedWith(Fabric fabric) {
        return prefixed || !fabric.hasImmediateData();
    }

    /** Copies the data of the peer's application. If it sent none, there are only zeros, or no bytes. */
    private static ByteBuffer applicationData(ByteBuffer in) throws MismatchException {
        int bytes = in.hasRemaining() ? in.get() & 0xff : 0;
        if (bytes > in.remaining()) {
            throw new MismatchException(REFUSED_MALFORMED, "the peer announces " + bytes + " bytes of data of its application;"
                + " there is room for " + in.remaining());
        }
        return bytes == 0 ? NO_DATA : ByteBuffer.allocate(bytes).put(in.slice(in.position(), bytes)).flip();
    }

    /** Returns the application's reason for a refusal. Characters that are not text are replaced by question marks. */
    String reason() {
        StringBuilder text = new StringBuilder(StandardCharsets.UTF_8.decode(data.duplicate()));
        for (int i = 0; i < text.length(); i++) {
            switch (Character.getType(text.charAt(i))) {
                case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
                        Character.UNASSIGNED, Character.PRIVATE_USE -> text.setCharAt(i, '?');
                default -> { }
            }
        }
        return text.toString();
    }

    /**
     * Decodes the handshake of a client, which cannot contain a refusal.
     *
     * @param data the private data of its request
     * @return the handshake, with every number within its limits
     * @throws MismatchException if the client does not use this protocol, or not in this version
     */
    public static Handshake decodeRequest(ByteBuffer data) throws MismatchException {
        Handshake request = decode(data);
        if (request.status != ACCEPTED) {
            throw new MismatchException(REFUSED_MALFORMED, "the client asks with status " + request.status + "; allowed is "
                + ACCEPTED + ", because only the accepting end can refuse");
        }
        return request;
    }

    /** Returns why the accepting end refused, in words. */
    static String refusalText(int status) {
        return switch (status) {
            case REFUSED_VERSION -> "it does not speak version " + MAJOR + "." + MINOR + " of the stream protocol";
            case REFUSED_MALFORMED -> "it could not read this end's handshake";
            case REFUSED_BY_APPLICATION -> "its application rejected it";
            default -> "the reason is " + status + ", which is unknown to this version";
        };
    }

    static {
        assert BYTES <= ConnectionRequest.MAX_CONNECT_PRIVATE_DATA;
    }

    /** Thrown if the peer does not use the protocol in a compatible way. */
    public static final class MismatchException extends ProtocolException {
        private final int status;

        MismatchException(int status, String message) {
            super(message);
            this.status = status;
        }

        /** Returns the status with which to refuse the peer. */
        public int status() {
            return status;
        }
    }
}
