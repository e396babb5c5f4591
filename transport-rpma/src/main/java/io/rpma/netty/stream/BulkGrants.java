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

import io.netty.buffer.ByteBuf;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * The areas of memory that one connection's peer has granted, to be filled in the order in which they were granted. Grants come
 * from the peer and are therefore checked completely.
 *
 * <p>Used by the connection's event loop.
 */
final class BulkGrants {
    private static final int AREAS = BulkAreas.AREAS;

    private final RpmaProvider provider;
    private final int largest;
    private final RemoteMemoryRegion[] regions = new RemoteMemoryRegion[AREAS];
    private final byte[][] descriptors = new byte[AREAS][];
    private final boolean[] usable = new boolean[AREAS];
    private final int[] order = new int[AREAS];
    private int head;
    private int count;
    private boolean used;

    /**
     * Creates an empty set.
     *
     * @param provider of the connection
     * @param largest the largest area in bytes that the peer has announced
     */
    BulkGrants(RpmaProvider provider, int largest) {
        this.provider = provider;
        this.largest = largest;
    }

    /**
     * Adds a grant.
     *
     * @param message the buffer with the grant
     * @param start the index at which the grant begins
     * @param bytes the length of the grant
     * @throws ProtocolException if the grant violates the protocol
     */
    void add(ByteBuf message, int start, int bytes) throws ProtocolException {
        int index = message.getUnsignedByte(start);
        if (index >= AREAS || usable[index]) {
            throw new ProtocolException("area " + index + " is granted, which is " + (index >= AREAS ? "beyond the limit of "
                + AREAS + " areas" : "already granted"));
        }
        if (!isKnown(index, message, start + 1, bytes - 1)) {
            open(index, message, start + 1, bytes - 1);
        }
        usable[index] = true;
        order[(head + count++) % AREAS] = index;
    }

    private boolean isKnown(int index, ByteBuf message, int start, int bytes) {
        byte[] known = descriptors[index];
        if (known == null || known.length != bytes) {
            return false;
        }
        for (int i = 0; i < bytes; i++) {
            if (known[i] != message.getByte(start + i)) {
                return false;
            }
        }
        return true;
    }

    private void open(int index, ByteBuf message, int start, int bytes) throws ProtocolException {
        close(index);
        byte[] descriptor = new byte[bytes];
        message.getBytes(start, descriptor);
        RemoteMemoryRegion region;
        try {
            region = provider.openRemoteRegion(ByteBuffer.wrap(descriptor));
        } catch (RpmaException e) {
            ProtocolException violation = new ProtocolException("a grant does not contain a valid descriptor of memory: "
                + e.getMessage());
            violation.initCause(e);
            throw violation;
        }
        regions[index] = region;
        if (region.size() < 1 || region.size() > largest) {
            throw new ProtocolException("an area of " + region.size() + " bytes is granted; the announced maximum is " + largest);
        }
        descriptors[index] = descriptor;
    }

    /** Returns the size of the next area in bytes; 0 if there is none. */
    int next() {
        return count == 0 ? 0 : (int) regions[order[head]].size();
    }

    /** Removes and returns the next area; there must be one. */
    RemoteMemoryRegion take() {
        used = true;
        return regions[pop()];
    }

    private int pop() {
        int index = order[head];
        usable[index] = false;
        head = (head + 1) % AREAS;
        count--;
        return index;
    }

    int count() {
        return count;
    }

    /** Returns whether areas are idle: there are some, and none was used since the last call. */
    boolean isIdle() {
        boolean idle = count > 0 && !used;
        used = false;
        return idle;
    }

    /** Removes all areas. */
    void clear() {
        while (count > 0) {
            pop();
        }
    }

    /** Closes all regions; no write may be under way any more. */
    void close() {
        clear();
        for (int i = 0; i < AREAS; i++) {
            close(i);
        }
    }

    private void close(int index) {
        RemoteMemoryRegion region = regions[index];
        if (region != null) {
            regions[index] = null;
            descriptors[index] = null;
            try {
                region.close();
            } catch (RpmaException e) {
                throw new IllegalStateException("a granted area could not be released: " + e.getMessage(), e);
            }
        }
    }
}
