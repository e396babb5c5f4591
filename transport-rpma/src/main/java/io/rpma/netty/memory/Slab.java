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

package io.rpma.netty.memory;

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * A large piece of registered memory, which is divided into buffers. It is registered once with each fabric that uses it and
 * never deregistered: registration is expensive, and a buffer may be in flight at any time.
 */
public final class Slab {
    /**
     * Usages for messages and for operations that this end starts. The slab itself is never accessible to operations that the
     * peer starts.
     */
    private static final Set<MemoryUsage> USAGES = EnumSet.of(MemoryUsage.SEND, MemoryUsage.RECV, MemoryUsage.WRITE_SRC,
        MemoryUsage.READ_DST);

    private static final LocalMemoryRegion[] NONE = {};

    private final MemorySegment memory;
    private final ByteBuffer buffer;
    // Indexed by fabric. The array is replaced, never modified, so that the data path reads it without a lock.
    private volatile LocalMemoryRegion[] regions = NONE;

    Slab(MemorySegment memory, ByteBuffer buffer) {
        this.memory = memory;
        this.buffer = buffer.order(ByteOrder.BIG_ENDIAN);
    }

    public long address() {
        return memory.address();
    }

    /** Returns the whole slab, big-endian like Netty's buffers; only its absolute methods may be used. */
    ByteBuffer buffer() {
        return buffer;
    }

    /** Returns the region of this slab on a fabric; registers it there on first use. */
    public LocalMemoryRegion region(Fabric fabric) throws RpmaException {
        LocalMemoryRegion[] current = regions;
        int id = fabric.id();
        LocalMemoryRegion region = id < current.length ? current[id] : null;
        return region != null ? region : register(fabric);
    }

    /** Fills a part of the slab with zeros. */
    public void zero(int offset, int bytes) {
        memory.asSlice(offset, bytes).fill((byte) 0);
    }

    /**
     * Registers a part of the slab separately, for other usages. The caller must close the region before the part is reused.
     */
    public LocalMemoryRegion register(Fabric fabric, int offset, int bytes, Set<MemoryUsage> usages) throws RpmaException {
        return fabric.peer().register(memory.asSlice(offset, bytes), usages);
    }

    private synchronized LocalMemoryRegion register(Fabric fabric) throws RpmaException {
        LocalMemoryRegion[] current = regions;
        int id = fabric.id();
        if (id < current.length && current[id] != null) {
            return current[id];
        }
        RegistrationEvent event = new RegistrationEvent();
        event.begin();
        LocalMemoryRegion region = fabric.peer().register(memory, USAGES);
        if (event.shouldCommit()) {
            event.fabric = fabric.toString();
            event.bytes = memory.byteSize();
            event.commit();
        }
        LocalMemoryRegion[] grown = Arrays.copyOf(current, Math.max(current.length, id + 1));
        grown[id] = region;
        regions = grown;
        return region;
    }
}
