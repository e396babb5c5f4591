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

import io.netty.util.AbstractReferenceCounted;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.memory.RegisteredCopy;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import io.rpma.netty.memory.Slabs;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Receive buffers that many message channels share ({@code rpma_srq_new(3)}), so that thousands of mostly idle connections need
 * no buffers of their own. Set as {@link RpmaChannelOption#RPMA_RECEIVE_QUEUE}, it replaces
 * {@link RpmaChannelOption#RPMA_RECEIVE_BUFFERS} and {@link RpmaChannelOption#RPMA_RECEIVE_BUFFER_BYTES}. Messages complete in
 * the completion queue of the connection on which they arrived, so the channels may be on any event loops.
 *
 * <p>Messages that are not read immediately hold none of the buffers: they are moved to buffers of their own, so that the peers
 * of other channels can send. Their own peer does not notice that. If more messages of one channel are unread than the queue has
 * buffers, it depends on the application. If it reads, only slowly, further messages hold their buffers, and all peers may have
 * to wait. If it does not want to read (auto-read off), or has not accepted the channel, the channel is closed with an {@link
 * java.io.IOException}, after its unread messages have been read.
 *
 * <p>A device may lose a buffer if a peer dies in the middle of a message. Another buffer then replaces it, up to twice the
 * initial number. The queue belongs to the device of the first channel that uses it. Reference-counted: its creator releases it
 * once, after the last connect or after the bind, and it is freed when the channels that use it are closed as well. A channel
 * whose queue has been freed before fails to connect or bind. Thread-safe.
 */
public final class RpmaSharedReceiveQueue extends AbstractReferenceCounted {
    private final int receiveBytes;
    private final int receives;
    private int spares;
    private Fabric fabric;
    // Not null from the first use on. The slots at the end are empty until they replace buffers that a device may have lost.
    private AtomicReferenceArray<RpmaByteBuf> buffers;
    private volatile SharedReceiveQueue queue;

    /**
     * Creates a queue; its memory is allocated when the first channel uses it.
     *
     * @param receives how many messages of all peers together can arrive before the event loops handle them, and how many
     *     messages of one channel can be unread; at least 1
     * @param receiveBytes the longest message that can be received, 1 byte to 4 MiB
     */
    public RpmaSharedReceiveQueue(int receives, int receiveBytes) {
        if (receives < 1) {
            throw new IllegalArgumentException("a shared receive queue of " + receives + " buffers; it must have at least 1");
        }
        if (receiveBytes < 1 || receiveBytes > Slabs.SLAB_SIZE) {
            throw new IllegalArgumentException("receive buffers of " + receiveBytes + " bytes; allowed are 1 to "
                + Slabs.SLAB_SIZE);
        }
        this.receiveBytes = receiveBytes;
        this.receives = receives;
    }

    int receives() {
        return receives;
    }

    /** Returns the largest possible number of buffers, including those that replace what a device has lost. */
    int slots() {
        return (int) Math.min(2L * receives, Integer.MAX_VALUE);
    }

    int receiveBytes() {
        return receiveBytes;
    }

    /** Returns the queue on the fabric, with all its buffers posted; creates it on first use. */
    synchronized SharedReceiveQueue on(Fabric of) throws RpmaException {
        if (queue != null) {
            if (fabric != of) {
                throw new IllegalArgumentException("the shared receive queue belongs to " + fabric + ", the connection to " + of
                    + ": make one for each device; a server channel that has one can listen on only one path (RPMA_PATHS)");
            }
            return queue;
        }
        int most = of.limits().maxSharedReceiveQueueWorkRequests();
        if (receives() > most) {
            throw new IllegalArgumentException("a shared receive queue of " + receives() + " buffers; " + of
                + " supports at most " + most);
        }
        retain();
        fabric = of;
        buffers = new AtomicReferenceArray<>(Math.min(slots(), most));
        try (SharedReceiveQueueConfig config = of.provider().newSharedReceiveQueueConfig()) {
            // The shared queue has no completion queue of its own.
            queue = of.peer().newSharedReceiveQueue(
                config.receiveQueueSize(buffers.length()).receiveCompletionQueueSize(0));
            for (int slot = 0; slot < receives(); slot++) {
                buffers.set(slot, RegisteredCopy.empty(receiveBytes));
                post(slot);
            }
            return queue;
        } catch (RpmaException | RuntimeException e) {
            free();
            throw e;
        } finally {
            release();
        }
    }

    RpmaByteBuf buffer(int slot) {
        return buffers.get(slot);
    }

    void replace(int slot, RpmaByteBuf by) {
        buffers.set(slot, by);
    }

    void post(int slot) throws RpmaException {
        RpmaByteBuf buf = buffers.get(slot);
        queue.receive(buf.slab().region(fabric), buf.block().offset, receiveBytes, slot);
    }

    /**
     * Called when a connection has ended, perhaps in the middle of a message. The device may have taken a buffer for it that
     * never completes. It is impossible to find out which one, so an additional one is posted.
     */
    synchronized void endedMidway() {
        if (queue == null || queue.returnsUnfinishedReceives()) {
            return;
        }
        int slot = receives + spares;
        if (slot >= buffers.length()) {
            return;
        }
        RpmaByteBuf buf = RegisteredMemory.registered(receiveBytes, receiveBytes);
        if (buf == null) {
            // There is no memory for an additional buffer, so there may be one buffer less.
            return;
        }
        buffers.set(slot, buf);
        try {
            post(slot);
            spares++;
        } catch (RpmaException e) {
            // The device takes no more than the queue was created for, so nothing has been lost so far.
            buffers.set(slot, null);
            buf.release();
        }
    }

    @Override
    protected void deallocate() {
        try {
            free();
        } catch (RpmaException e) {
            throw new UncheckedIOException("a shared receive queue could not be freed", e);
        }
    }

    private synchronized void free() throws RpmaException {
        SharedReceiveQueue closing = queue;
        queue = null;
        if (closing != null) {
            closing.close();
            LimboMemory.release(closing::isQuiescent, (long) (receives + spares) * receiveBytes, this::releaseBuffers);
        }
    }

    private void releaseBuffers() {
        for (int slot = 0; slot < buffers.length(); slot++) {
            RpmaByteBuf buf = buffers.getAndSet(slot, null);
            if (buf != null) {
                buf.release();
            }
        }
    }

    @Override
    public RpmaSharedReceiveQueue retain() {
        super.retain();
        return this;
    }

    @Override
    public RpmaSharedReceiveQueue retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpmaSharedReceiveQueue touch() {
        super.touch();
        return this;
    }

    @Override
    public RpmaSharedReceiveQueue touch(Object hint) {
        return this;
    }

    @Override
    public String toString() {
        return "shared receive queue of " + receives() + " buffers of " + receiveBytes + " bytes";
    }
}
