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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaError;
import io.rpma.RpmaException;

/**
 * The receive buffers of a connection: posted, each in a slot, which a receive's completion names. The buffer of a slot that has
 * completed is the connection's, until it posts the slot again.
 */
abstract class ReceiveBuffers {
    final Fabric fabric;
    final int messageBytes;

    ReceiveBuffers(Fabric fabric, int messageBytes) {
        this.fabric = fabric;
        this.messageBytes = messageBytes;
    }

    /** Chooses the queue that the receives of a connection are taken from. */
    abstract void configure(ConnectionConfig config) throws RpmaException;

    /**
     * Makes sure that a connection finds as many receives as it may need.
     *
     * @param request of the connection
     * @param count how many messages the peer may have under way
     */
    abstract void post(ConnectionRequest request, int count) throws RpmaException;

    /**
     * Gives a connection's share back, once it is destroyed, or was never made.
     *
     * @param count as it was posted; 0 if it was not
     */
    abstract void leave(int count);

    /** How many receives a peer that keeps no rule can take before one of them has been seen. */
    abstract int most();

    /** The buffer that the message of a completed receive lies in. */
    abstract RpmaByteBuf buffer(int slot);

    /** Posts a completed receive again. */
    abstract void repost(int slot) throws RpmaException;

    /**
     * Takes the buffer out of a slot, and posts the slot with another one.
     *
     * @return the buffer, now the caller's, or {@code null} if no registered memory is left for another one
     */
    abstract RpmaByteBuf exchange(int slot) throws RpmaException;

    /** Whether a message that has arrived must not keep its receive until it is read: others may need it. */
    abstract boolean isCrowded();

    /** Whether receives are of several connections: they do not end with this one, and have to be posted again. */
    abstract boolean isShared();

    /** The queue that the receives complete in, or {@code null} if that is the connection's own. */
    LoopCompletions completions() {
        return null;
    }

    /** A connection ended in the midst of a stream: the device may have taken a receive for a message that it never completed. */
    abstract void endedMidway();

    /** A buffer for a receive, or {@code null} if there is no memory for it. */
    final RpmaByteBuf tryAllocate() {
        return RpmaByteBufAllocator.DEFAULT.registered(messageBytes, messageBytes);
    }

    final RpmaByteBuf allocate() throws RpmaException {
        RpmaByteBuf buf = tryAllocate();
        if (buf == null) {
            throw new RpmaException(RpmaError.NO_MEMORY, "no registered memory is left for a receive buffer of " + messageBytes
                + " bytes: " + RpmaByteBufAllocator.DEFAULT.registeredBytes()
                + " bytes are registered; -Dio.rpma.netty.maxRegisteredBytes sets the limit");
        }
        return buf;
    }
}
