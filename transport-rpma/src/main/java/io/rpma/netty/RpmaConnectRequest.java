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

package io.rpma.netty;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client's request for a connection to a server channel that has not been answered yet ({@code struct rpma_conn_req}). It is
 * passed to an {@link RpmaRequestHandler}, which answers by exactly one of {@link #accept()}, {@link #accept(ByteBuffer)},
 * {@link #refuse} and {@link #reject}, immediately or later. Thread-safe.
 */
public final class RpmaConnectRequest {
    private final Owner owner;
    private final Listening from;
    private final Admission admission;
    private final InetSocketAddress remoteAddress;
    // Null until the request is decided, then the decision in words.
    private final AtomicReference<String> outcome = new AtomicReference<>();

    /** What carries out the decisions for the server channel. Its methods may be called on any thread. */
    interface Owner {
        /** The server channel itself. */
        Channel serverChannel();

        /** Returns a promise that cannot be cancelled. */
        Promise<Channel> newPromise();

        /** Accepts the request, on the event loop. If the data is {@code null}, the data of the options is used. */
        void accept(RpmaConnectRequest request, ByteBuffer privateData, Promise<Channel> promise);

        /** Refuses the request, on the event loop. If the reason is {@code null}, the request is rejected. */
        void refuse(RpmaConnectRequest request, byte[] reason);
    }

    /**
     * Creates an undecided request.
     *
     * @param from the endpoint that received it
     */
    RpmaConnectRequest(Owner owner, Listening from, Admission admission, InetSocketAddress remoteAddress) {
        this.owner = owner;
        this.from = from;
        this.admission = admission;
        this.remoteAddress = remoteAddress;
    }

    Listening from() {
        return from;
    }

    Admission admission() {
        return admission;
    }

    /**
     * Takes the decision, unless it has been taken already.
     *
     * @param how the decision in words, for the message that later callers get
     */
    boolean decide(String how) {
        return outcome.compareAndSet(null, how);
    }

    /** Returns the server channel that received the request. */
    public Channel serverChannel() {
        return owner.serverChannel();
    }

    /** Returns the address of the client, or {@code null} if the provider does not report it. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /**
     * Returns the private data of the client's request ({@code rpma_conn_req_get_private_data(3)}), which is not to be trusted.
     * For an {@link RpmaChannel} these are exactly the bytes that were set there, possibly none. For a message channel, or a
     * program that uses librpma, they are 56 bytes, because devices pad them with zeros.
     *
     * @return a read-only buffer of its own
     */
    public ByteBuffer privateData() {
        return admission.privateData().asReadOnlyBuffer();
    }

    /** Returns whether the request has been accepted, refused or rejected, explicitly or because of a timeout or an error. */
    public boolean isDecided() {
        return outcome.get() != null;
    }

    /**
     * Accepts the connection with the private data of the server channel's options ({@code rpma_conn_req_connect(3)}).
     *
     * @return as {@link #accept(ByteBuffer)}
     */
    public Future<Channel> accept() {
        return accept0(null);
    }

    /**
     * Accepts the connection with private data for this client alone ({@code rpma_conn_req_connect(3)}).
     *
     * @param privateData its remaining bytes are copied, at most as many as {@link RpmaChannelOption#RPMA_PRIVATE_DATA} of the
     *     server channel may have; empty for none
     * @return a future that succeeds on the event loop of the server channel when the client has established the connection.
     *     Its result is the child channel before it is registered and initialized: a listener may set its attributes, but
     *     nothing else. The future fails if the client has gone, or with an {@link IllegalStateException} if the request was
     *     decided before
     * @throws IllegalArgumentException if the private data are too long; the request remains undecided
     */
    public Future<Channel> accept(ByteBuffer privateData) {
        DeclaredOptions.check(RpmaChannelOption.RPMA_PRIVATE_DATA, privateData.remaining(), " bytes", 0,
            admission.maxPrivateData());
        return accept0(ByteBuffer.allocate(privateData.remaining()).put(privateData.duplicate()).flip());
    }

    private Future<Channel> accept0(ByteBuffer privateData) {
        Promise<Channel> promise = owner.newPromise();
        if (decide("accepted")) {
            owner.accept(this, privateData, promise);
        } else {
            promise.setFailure(new IllegalStateException("the request of " + remoteAddress + " has been decided already: "
                + outcome.get()));
        }
        return promise;
    }

    /**
     * Refuses the connection and tells the client why. librpma does not pass on the reason of a rejection; the connection is
     * therefore accepted, and closed when the client has received the reason. The connect of an {@link RpmaChannel} fails with
     * an {@link RpmaRefusedException} that has the reason. A message channel, or a program that uses librpma, is connected,
     * finds the reason in the private data, and is disconnected.
     *
     * @param reason a text for people, in UTF-8 at most as many bytes as the private data may have; may be empty
     * @return {@code true} if the request is now refused, {@code false} if it had been decided before
     */
    public boolean refuse(String reason) {
        byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > admission.maxPrivateData()) {
            throw new IllegalArgumentException("the reason has " + bytes.length + " bytes in UTF-8; allowed are 0 to "
                + admission.maxPrivateData());
        }
        if (!decide("refused")) {
            return false;
        }
        owner.refuse(this, bytes);
        return true;
    }

    /**
     * Rejects the connection without a reason ({@code rpma_conn_req_delete(3)}). The client's connect fails with
     * {@code Connection refused}, and a program that uses librpma gets {@code RPMA_CONN_REJECTED}. librpma keeps a
     * communication identifier for each rejected request until the process ends. {@link #refuse} does not, and should be
     * preferred where there may be many clients.
     *
     * @return {@code true} if the request is now rejected, {@code false} if it had been decided before
     */
    public boolean reject() {
        if (!decide("rejected")) {
            return false;
        }
        owner.refuse(this, null);
        return true;
    }

    @Override
    public String toString() {
        String how = outcome.get();
        return "the request of " + remoteAddress + " to " + owner.serverChannel() + ", " + (how == null ? "undecided" : how);
    }
}
