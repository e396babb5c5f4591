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
 * A client that asks a server channel for a connection, and has no answer yet ({@code struct rpma_conn_req}). An
 * {@link RpmaRequestHandler} gets it, and answers by exactly one of {@link #accept()}, {@link #accept(ByteBuffer)},
 * {@link #refuse} and {@link #reject}, at once or later. Thread-safe.
 */
public final class RpmaConnectRequest {
    private final Owner owner;
    private final Admission admission;
    private final InetSocketAddress remoteAddress;
    // Null until it is decided, then how, in words.
    private final AtomicReference<String> outcome = new AtomicReference<>();

    /** The server channel. Its methods may be called on any thread. */
    interface Owner {
        /** The server channel itself. */
        Channel serverChannel();

        /** A promise that nobody can cancel. */
        Promise<Channel> newPromise();

        /** Accepts, on the loop. Data of {@code null} stand for those of the options. */
        void accept(RpmaConnectRequest request, ByteBuffer privateData, Promise<Channel> promise);

        /** Refuses, on the loop; without a reason of {@code null} by rejecting. */
        void refuse(RpmaConnectRequest request, byte[] reason);
    }

    RpmaConnectRequest(Owner owner, Admission admission, InetSocketAddress remoteAddress) {
        this.owner = owner;
        this.admission = admission;
        this.remoteAddress = remoteAddress;
    }

    Admission admission() {
        return admission;
    }

    /**
     * Takes the decision, if it has not been taken.
     *
     * @param how in words, for those who come later
     */
    boolean decide(String how) {
        return outcome.compareAndSet(null, how);
    }

    /** Returns the server channel that was asked. */
    public Channel serverChannel() {
        return owner.serverChannel();
    }

    /** Returns the address of the client; {@code null} if the provider cannot tell. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /**
     * Returns the private data of the client's request ({@code rpma_conn_req_get_private_data(3)}), which are not to be trusted:
     * of an {@link RpmaChannel} exactly the bytes that it was given, possibly none; of a message channel, or a program that uses
     * librpma, 56 bytes, because devices pad them with zeros.
     *
     * @return a read-only buffer of its own
     */
    public ByteBuffer privateData() {
        return admission.privateData().asReadOnlyBuffer();
    }

    /** Returns whether the request has been decided: accepted, refused or rejected, by whomever. */
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
     * @return succeeds on the event loop of the server channel when the client has established the connection, with the child
     *     channel: before it is registered and initialized, so that a listener can set its attributes, and nothing else; fails if
     *     the client has gone, or with {@link IllegalStateException} if the request had been decided before
     * @throws IllegalArgumentException if the private data are too long; the request remains undecided
     */
    public Future<Channel> accept(ByteBuffer privateData) {
        return accept0(admission.checked(privateData));
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
     * Refuses the connection and tells the client why. For that the connection is accepted and closed when the client has heard
     * it, because librpma keeps the reason of a rejection to itself: the connect of an {@link RpmaChannel} fails with an
     * {@link RpmaRefusedException} that has the reason; a message channel, or a program that uses librpma, is connected, finds
     * the reason in the private data, and is disconnected.
     *
     * @param reason for people, at most as many bytes of UTF-8 as the private data may have; may be empty
     * @return whether that was the decision: {@code false} if the request had been decided before
     * @throws IllegalArgumentException if the reason is too long; the request remains undecided
     */
    public boolean refuse(String reason) {
        byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > admission.maxPrivateData()) {
            throw new IllegalArgumentException("a reason of " + bytes.length + " bytes in UTF-8; allowed are 0 to "
                + admission.maxPrivateData());
        }
        if (!decide("refused")) {
            return false;
        }
        owner.refuse(this, bytes);
        return true;
    }

    /**
     * Rejects the connection without a reason ({@code rpma_conn_req_delete(3)}): the client's connect fails with
     * {@code Connection refused}, and a program that uses librpma gets {@code RPMA_CONN_REJECTED}. librpma keeps a communication
     * identifier for each rejected request until the process ends; {@link #refuse} does not cost it, and is to be preferred where
     * clients may be many.
     *
     * @return whether that was the decision: {@code false} if the request had been decided before
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
