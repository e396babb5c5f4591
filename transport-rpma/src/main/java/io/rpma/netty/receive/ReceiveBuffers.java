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

package io.rpma.netty.receive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;

/**
 * The receive buffers of a connection. Each posted buffer has a slot, which the completion of the receive contains. The buffer
 * of a completed slot belongs to the connection until it posts the slot again.
 */
public abstract class ReceiveBuffers {
    public final Fabric fabric;
    final int messageBytes;

    public ReceiveBuffers(Fabric fabric, int messageBytes) {
        this.fabric = fabric;
        this.messageBytes = messageBytes;
    }

    /** Configures the queue from which the receives of a connection are taken. */
    public abstract void configure(ConnectionConfig config) throws RpmaException;

    /**
     * Ensures that a connection finds as many receives as it may need.
     *
     * @param request the request of the connection
     * @param count how many messages the peer may have under way
     */
    public abstract void post(ConnectionRequest request, int count) throws RpmaException;

    /**
     * Returns a connection's share, when the connection has been destroyed or was not made.
     *
     * @param count the count that was posted; 0 if none was
     */
    public abstract void leave(int count);

    /** Returns how many receives a peer that ignores the protocol can take before one of them has been handled. */
    public abstract int most();

    /** Returns the buffer that contains the message of a completed receive. */
    public abstract RpmaByteBuf buffer(int slot);

    /** Posts a completed receive again. */
    public abstract void repost(int slot) throws RpmaException;

    /**
     * Takes the buffer out of a slot, and posts the slot with another one.
     *
     * @return the buffer, which then belongs to the caller, or {@code null} if no registered memory is left for another one
     */
    public abstract RpmaByteBuf exchange(int slot) throws RpmaException;

    /**
     * Moves a message out of its receive, and posts the receive again. The message is copied to ordinary memory if no registered
     * memory is left. If this method throws, the message stays in its slot.
     *
     * @param bytes the length of the message
     * @return the buffer that contains the message, which then belongs to the caller
     */
    public final ByteBuf move(int slot, int bytes) throws RpmaException {
        RpmaByteBuf buf = exchange(slot);
        if (buf != null) {
            return buf;
        }
        int length = Math.min(bytes, messageBytes);
        ByteBuf ordinary = UnpooledByteBufAllocator.DEFAULT.directBuffer(length, length).writeBytes(buffer(slot), 0, length);
        try {
            repost(slot);
        } catch (RpmaException e) {
            ordinary.release();
            throw e;
        }
        return ordinary;
    }

    /** Returns whether an unread message must release its receive, because other connections may need it. */
    public abstract boolean isCrowded();

    /** Returns whether the receives belong to several connections. They then outlive this one, and have to be posted again. */
    public abstract boolean isShared();

    /** Returns the queue that the receives complete in, or {@code null} if they complete in the connection's own queue. */
    public LoopCompletions completions() {
        return null;
    }

    /**
     * Called when a connection ended in the middle of a stream: the device may have taken a receive that it never completes.
     */
    public abstract void endedMidway();

    /** Allocates a buffer for a receive; returns {@code null} if there is no memory for it. */
    final RpmaByteBuf tryAllocate() {
        return RegisteredMemory.registered(messageBytes, messageBytes);
    }

    protected final RpmaByteBuf allocate() throws RpmaException {
        RpmaByteBuf buf = tryAllocate();
        if (buf == null) {
            throw new RpmaException(RpmaError.NO_MEMORY, "no registered memory is left for a receive buffer of " + messageBytes
                + " bytes: " + RegisteredMemory.registeredBytes()
                + " bytes are registered; -Dio.rpma.netty.maxRegisteredBytes sets the limit");
        }
        return buf;
    }
}
