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

import io.rpma.Connection;
import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RpmaByteBuf;

/** Receive buffers that belong to one connection alone ({@code rpma_recv(3)}). */
public final class OwnReceives extends ReceiveBuffers {
    private final RpmaByteBuf[] buffers;
    private Connection connection;

    public OwnReceives(Fabric fabric, int messageBytes, int count) {
        super(fabric, messageBytes);
        buffers = new RpmaByteBuf[count];
    }

    /** Called when the connection has been made; later receives are posted on it. */
    public void connected(Connection made) {
        connection = made;
    }

    @Override
    public void configure(ConnectionConfig config) throws RpmaException {
        config.receiveQueueSize(buffers.length);
    }

    @Override
    public void post(ConnectionRequest request, int count) throws RpmaException {
        for (int slot = 0; slot < count; slot++) {
            RpmaByteBuf buf = allocate();
            buffers[slot] = buf;
            request.receive(buf.slab().region(fabric), buf.block().offset, messageBytes, slot);
        }
    }

    @Override
    public void leave(int count) {
        for (int slot = 0; slot < buffers.length; slot++) {
            RpmaByteBuf buf = buffers[slot];
            if (buf != null) {
                buffers[slot] = null;
                buf.release();
            }
        }
    }

    @Override
    public int most() {
        return buffers.length;
    }

    @Override
    public RpmaByteBuf buffer(int slot) {
        return buffers[slot];
    }

    @Override
    public void repost(int slot) throws RpmaException {
        RpmaByteBuf buf = buffers[slot];
        connection.receive(buf.slab().region(fabric), buf.block().offset, messageBytes, slot);
    }

    @Override
    public RpmaByteBuf exchange(int slot) throws RpmaException {
        RpmaByteBuf replacement = tryAllocate();
        if (replacement == null) {
            return null;
        }
        RpmaByteBuf buf = buffers[slot];
        buffers[slot] = replacement;
        try {
            repost(slot);
        } catch (RpmaException e) {
            // The message that arrived stays in its slot.
            buffers[slot] = buf;
            replacement.release();
            throw e;
        }
        return buf;
    }

    @Override
    public boolean isCrowded() {
        return false;
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public void endedMidway() {
        // The receives end with the connection.
    }
}
