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

import io.rpma.Connection;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredCopy;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;

/**
 * The receives of a connection of messages with their buffers: its own ones, or those of a {@link RpmaSharedReceiveQueue}, which
 * it shares with other connections.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class MessageReceives {
    private final Fabric fabric;
    private final int receiveBytes;
    // Exactly one of them is null.
    private final RpmaSharedReceiveQueue shared;
    private final RpmaByteBuf[] own;

    private MessageReceives(Fabric fabric, int receiveBytes, RpmaSharedReceiveQueue shared, RpmaByteBuf[] own) {
        this.fabric = fabric;
        this.receiveBytes = receiveBytes;
        this.shared = shared;
        this.own = own;
    }

    /**
     * Creates the receives of a connection, to be released by {@link #close}.
     *
     * @throws IllegalStateException if the last user of the shared queue has released it meanwhile
     */
    static MessageReceives of(Fabric fabric, MessageSizes sizes) {
        RpmaSharedReceiveQueue shared = sizes.shared();
        if (shared != null) {
            shared.retain();
            return new MessageReceives(fabric, sizes.receiveBytes(), shared, null);
        }
        return new MessageReceives(fabric, sizes.receiveBytes(), null, new RpmaByteBuf[sizes.receives()]);
    }

    /** Posts own receives before the connection exists, so that the peer's first message finds them. */
    void post(ConnectionRequest request) throws RpmaException {
        if (own == null) {
            return;
        }
        for (int slot = 0; slot < own.length; slot++) {
            RpmaByteBuf buf = RegisteredCopy.empty(receiveBytes);
            own[slot] = buf;
            request.receive(buf.slab().region(fabric), buf.block().offset, receiveBytes, slot);
        }
    }

    /** Returns whether the receives belong to several connections. They then outlive this one, and have to be posted again. */
    boolean areShared() {
        return shared != null;
    }

    /** Returns the buffer that contains the message of a completed receive. */
    RpmaByteBuf buffer(int slot) {
        return shared != null ? shared.buffer(slot) : own[slot];
    }

    /**
     * Puts another buffer into a slot; the one that was there then belongs to the caller.
     *
     * @return whether there was registered memory for another one
     */
    boolean replace(int slot) {
        RpmaByteBuf replacement = RegisteredMemory.registered(receiveBytes, receiveBytes);
        if (replacement == null) {
            return false;
        }
        if (shared != null) {
            shared.replace(slot, replacement);
        } else {
            own[slot] = replacement;
        }
        return true;
    }

    /**
     * Posts a completed receive again.
     *
     * @param connection the connection; not used if the receives are shared
     */
    void repost(Connection connection, int slot) throws RpmaException {
        if (shared != null) {
            shared.post(slot);
            return;
        }
        RpmaByteBuf buf = own[slot];
        connection.receive(buf.slab().region(fabric), buf.block().offset, receiveBytes, slot);
    }

    /** Called when the connection ended in the middle of its messages: the device may have taken receives that never complete. */
    void endedMidway() {
        if (shared != null) {
            shared.endedMidway();
        }
    }

    /** Returns how many bytes the peer may still be writing to. */
    long bytes() {
        return (long) (own == null ? 1 : Math.max(1, own.length)) * receiveBytes;
    }

    /** Releases the buffers, or this connection's share of them. */
    void close() {
        if (shared != null) {
            shared.release();
            return;
        }
        for (int slot = 0; slot < own.length; slot++) {
            RpmaByteBuf buf = own[slot];
            if (buf != null) {
                own[slot] = null;
                buf.release();
            }
        }
    }
}
