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

import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A message of a control socket or a link, which preserve message boundaries. Every message begins with magic, version, type and
 * the number of attachments. The attachments follow (kind, number, size); their descriptors are sent with the message in the same
 * order. The body, which depends on the type, follows the attachments. All numbers are in native byte order, because both ends
 * are on one host.
 */
public final class ControlMessage {
    /** The version of the protocol and of the layout of shared memory. Only processes with equal versions can connect. */
    public static final short VERSION = 5;

    /** A client requests a connection: {@link EndDescription}, addresses, private data. */
    public static final short CONNECT = 1;
    /** The server accepts: {@link EndDescription}, private data. */
    public static final short ACCEPT = 2;
    /** The server rejects: the reason as text. */
    public static final short REJECT = 3;
    /** The client confirms the acceptance. */
    public static final short READY = 4;
    /** On a {@link Link}: memory that all connections share. */
    public static final short SHARED = 5;
    /** On a link: shared memory that is withdrawn, by kind and number. */
    public static final short GONE = 6;
    /** The sender's application has disconnected. */
    public static final short DISCONNECT = 7;
    /** The receiver has to read the link. */
    public static final short LOOK = 8;
    /** The answer: the link has been read. With a body it is no answer, but asks for what the link had no room for. */
    public static final short LOOKED = 9;

    /** The descriptor of the sender's completion queue, which it did not send when it connected. */
    public static final short DOORBELL = 10;

    /** An end of a link. */
    public static final int LINK = 1;
    /** The table of memory regions. */
    public static final int TABLE = 2;
    /** The doorbell of the completion queue. */
    public static final int EVENT = 3;
    /** The doorbell of the receive completion queue. */
    public static final int RECEIVE_EVENT = 4;
    /** The file of a shared receive queue that initiators write. */
    public static final int QUEUE = 5;
    /** The doorbell of a shared receive queue's completion queue. */
    public static final int QUEUE_EVENT = 6;
    /** A range, which contains regions. */
    public static final int RANGE = 7;
    /** The memory of halves of connections. */
    public static final int SLAB = 8;
    /** The posted receives of a shared receive queue, which only its owner writes. */
    public static final int QUEUE_POSTED = 9;

    /** Bytes of the head. */
    static final int HEAD = 12;

    private static final int MAGIC = 0x52504d53;
    private static final int ATTACHMENT_BYTES = 16;
    private static final int BODY_CAPACITY = 512;
    private static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);
    private static final int[] NO_DESCRIPTORS = {};

    private final short version;
    private final short type;
    private final List<Attachment> attachments;
    private final ByteBuffer body;

    private ControlMessage(short version, short type, List<Attachment> attachments, ByteBuffer body) {
        this.version = version;
        this.type = type;
        this.attachments = attachments;
        this.body = body;
    }

    /**
     * A descriptor attached to a message.
     *
     * @param kind the kind of the attachment
     * @param id its number, if there are several of a kind
     * @param size the size of memory, in bytes
     * @param fd the descriptor
     */
    public record Attachment(int kind, int id, long size, int fd) {
    }

    /** Starts a message to be sent. The caller writes the body to {@link #body()}. */
    public static ControlMessage of(short type) {
        return new ControlMessage(VERSION, type, new ArrayList<>(),
            ByteBuffer.allocate(BODY_CAPACITY).order(ByteOrder.nativeOrder()));
    }

    /** Starts a message without a body. */
    public static ControlMessage bare(short type) {
        return new ControlMessage(VERSION, type, List.of(), NO_BODY);
    }

    public ControlMessage attach(int kind, int id, long size, int fd) {
        attachments.add(new Attachment(kind, id, size, fd));
        return this;
    }

    public short version() {
        return version;
    }

    public short type() {
        return type;
    }

    public List<Attachment> attachments() {
        return attachments;
    }

    public ByteBuffer body() {
        return body;
    }

    /**
     * Sends the message without waiting.
     *
     * @return 0 or {@code -errno}
     */
    public int send(int socket) {
        Scratch scratch = Scratch.get();
        ByteBuffer target = scratch.message().clear();
        int count = attachments.size();
        target.putInt(MAGIC).putShort(version).putShort(type).putInt(count);
        int[] descriptors = count == 0 ? NO_DESCRIPTORS : new int[count];
        for (int i = 0; i < count; i++) {
            Attachment attachment = attachments.get(i);
            target.putInt(attachment.kind()).putInt(attachment.id()).putLong(attachment.size());
            descriptors[i] = attachment.fd();
        }
        if (body != NO_BODY) {
            target.put(body.flip());
        }
        return Sockets.sendMessage(socket, scratch, target.position(), descriptors);
    }

    /**
     * Receives a message without waiting. If this process has too few descriptors left for its attachments, the message stays in
     * the socket, and can be received when there are more.
     *
     * @return the message; {@code null} if none came, and then {@link Incoming#result} says why
     */
    public static ControlMessage receive(int socket, Incoming incoming) {
        ControlMessage message = peek(socket, incoming);
        if (message != null || incoming.result == -Posix.EINVAL) {
            Sockets.takeMessage(socket);
        }
        return message;
    }

    /**
     * Receives a message that may not have attachments, without waiting. This is one system call instead of two, because such a
     * message needs no descriptor.
     *
     * @return the message; {@code null} if none came, and then {@link Incoming#result} says why
     */
    public static ControlMessage receiveBare(int socket, Incoming incoming) {
        Scratch scratch = Scratch.get();
        // The kernel closes the descriptors of a message that is received like this.
        int length = (int) Sockets.receive(socket, scratch.messageAddress(), Scratch.MESSAGE_CAPACITY);
        // A message that fills the memory may have been truncated; those of this protocol are shorter.
        incoming.result = length < Scratch.MESSAGE_CAPACITY ? length : -Posix.EINVAL;
        return incoming.result <= 0 ? null : parse(scratch, length, incoming, 0);
    }

    /**
     * Reads a message without waiting, and leaves it in the socket until {@link Sockets#takeMessage}. The caller owns its
     * attachments nevertheless: reading it again returns other descriptors for the same files.
     *
     * @return the message; {@code null} if none came, and then {@link Incoming#result} says why
     */
    public static ControlMessage peek(int socket, Incoming incoming) {
        int[] descriptors = incoming.descriptors;
        Scratch scratch = Scratch.get();
        int length = Sockets.peekMessage(socket, scratch, descriptors);
        incoming.result = length;
        if (length <= 0) {
            return null;
        }
        int count = 0;
        while (count < descriptors.length && descriptors[count] >= 0) {
            count++;
        }
        return parse(scratch, length, incoming, count);
    }

    private static ControlMessage parse(Scratch scratch, int length, Incoming incoming, int count) {
        ControlMessage message = parse(scratch.message().clear().limit(length), incoming.descriptors, count);
        if (message == null) {
            for (int i = 0; i < count; i++) {
                Posix.close(incoming.descriptors[i]);
            }
            incoming.result = -Posix.EINVAL;
        }
        return message;
    }

    private static ControlMessage parse(ByteBuffer source, int[] descriptors, int count) {
        if (source.remaining() < HEAD || source.getInt() != MAGIC) {
            return null;
        }
        short version = source.getShort();
        short type = source.getShort();
        int announced = source.getInt();
        List<Attachment> attachments = count == 0 ? List.of() : new ArrayList<>(count);
        if (version == VERSION) {
            if (announced != count || source.remaining() < announced * ATTACHMENT_BYTES) {
                return null;
            }
            for (int i = 0; i < count; i++) {
                attachments.add(new Attachment(source.getInt(), source.getInt(), source.getLong(), descriptors[i]));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Posix.close(descriptors[i]);
            }
        }
        if (!source.hasRemaining()) {
            return new ControlMessage(version, type, attachments, NO_BODY);
        }
        byte[] body = new byte[source.remaining()];
        source.get(body);
        return new ControlMessage(version, type, attachments, ByteBuffer.wrap(body).order(ByteOrder.nativeOrder()));
    }

    /** Removes the first attachment and returns it, or {@code null} if there is none. */
    public Attachment takeFirst() {
        return attachments.isEmpty() ? null : attachments.removeFirst();
    }

    /** Returns the first attachment of a kind, {@code null} if there is none. The message keeps its ownership. */
    public Attachment find(int kind) {
        for (Attachment attachment : attachments) {
            if (attachment.kind() == kind) {
                return attachment;
            }
        }
        return null;
    }

    /** Removes the first attachment of a kind and returns it, or {@code null} if there is none. */
    public Attachment take(int kind) {
        for (int i = 0; i < attachments.size(); i++) {
            if (attachments.get(i).kind() == kind) {
                return attachments.remove(i);
            }
        }
        return null;
    }

    /** Closes the attachments that have not been removed. */
    public void closeAttachments() {
        if (!attachments.isEmpty()) {
            for (Attachment attachment : attachments) {
                Posix.close(attachment.fd());
            }
            attachments.clear();
        }
    }

    /** Returns this thread's buffer for one message. */
    public static Incoming incoming() {
        return Incoming.OF_THREAD.get();
    }

    /** The buffer for one message. */
    public static final class Incoming {
        private static final ThreadLocal<Incoming> OF_THREAD = ThreadLocal.withInitial(Incoming::new);

        /**
         * The length, 0 at the end, or {@code -errno}: {@code -EINVAL} if it is not a message of this protocol,
         * {@code -EMFILE} if this process has too few descriptors left to receive it.
         */
        public int result;
        private final int[] descriptors = new int[Scratch.MAX_DESCRIPTORS + 1];

        @Override
        public String toString() {
            return "result " + result + ", descriptors " + Arrays.toString(descriptors);
        }
    }
}
