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

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.netty.memory.BuddyArena;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.LimboMemory;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.memory.RpmaByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that one connection's peer may write large data into, divided into areas. Each area is registered for remote
 * writes for this connection alone, granted to the peer, filled by one {@code rpma_write_with_imm(3)}, passed to the pipeline
 * as a buffer, and granted again when the pipeline has released it. Areas are allocated when the peer has large data, and freed
 * when it has had none for a while; a connection without large data has none.
 *
 * <p>Used by the connection's event loop; only {@link Area#released()} may be called by any thread.
 */
public final class BulkAreas {
    /** The largest number of areas, including those that the application holds. */
    public static final int AREAS = 8;
    /**
     * The largest number of areas that are granted, or filled and unread, at a time: the peer fills one while another is being
     * transferred.
     */
    public static final int WINDOW = 4;

    private static final AtomicLong BYTES = new AtomicLong();

    /**
     * An area that the peer returns sooner than this after the last one was created has cost this end more than it can have been
     * worth. A peer returns areas when it has not used them for a second.
     */
    private static final long HASTE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** How many more returns in haste than other ones there may be. The peer is granted no more areas then. */
    private static final int MOST_HASTY = 16;

    private static final Set<MemoryUsage> USAGES = EnumSet.of(MemoryUsage.WRITE_DST);
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.BulkAreas");

    private final Fabric fabric;
    private final int largest;
    private final Area[] areas = new Area[AREAS];
    // The areas that the peer has been granted and has not used, oldest first.
    private final Area[] granted = new Area[WINDOW];
    private int head;
    private int count;
    private int filled;
    private int wanted;
    private boolean refused;
    private long createdNanos;
    private int hasty;
    // Whether a released area is kept for the next grant; read by the threads that release.
    private volatile boolean kept;

    /**
     * Creates the areas of a connection; none has memory yet.
     *
     * @param fabric of the connection
     * @param largest the size that no area exceeds, in bytes
     */
    BulkAreas(Fabric fabric, int largest) {
        this.fabric = fabric;
        this.largest = largest;
    }

    /** Returns the number of bytes of memory that the areas of all connections take up. */
    public static long bytes() {
        return BYTES.get();
    }

    /**
     * Called when the peer has announced large data of this size: areas that are granted from now on are large enough for it,
     * or have the largest size.
     */
    void want(long bytes) {
        if (!refused) {
            int size = bytes >= largest ? largest : Math.min(largest, 1 << BuddyArena.shift((int) bytes));
            wanted = Math.max(wanted, size);
        }
    }

    /** Returns whether another area may be granted to the peer without exceeding the window. */
    boolean isDue() {
        return wanted > 0 && count + filled < WINDOW;
    }

    /**
     * Takes an area for a grant.
     *
     * @return the area, or {@code null} if the application holds all areas, or there is no memory for one
     */
    Area grant() {
        kept = true;
        int empty = -1;
        Area small = null;
        for (int i = 0; i < AREAS; i++) {
            Area area = areas[i];
            if (area == null || area.state == Area.GONE) {
                empty = empty < 0 ? i : empty;
            } else if (area.state == Area.FREE) {
                if (area.size < wanted) {
                    small = area;
                } else if (area.take()) {
                    return grant(area);
                }
            }
        }
        if (small != null) {
            // The area is too small for what the peer has now; another one replaces it.
            small.discard();
            empty = small.index;
        }
        Area fresh = empty >= 0 ? create(empty) : null;
        return fresh != null ? grant(fresh) : null;
    }

    private Area grant(Area area) {
        granted[(head + count++) % WINDOW] = area;
        return area;
    }

    private Area create(int index) {
        int size = wanted;
        int shift = BuddyArena.shift(size);
        // The block may be larger than the area.
        int block = 1 << shift;
        if (BYTES.addAndGet(block) > RegisteredMemory.MAX_BULK_BYTES) {
            BYTES.addAndGet(-block);
            return null;
        }
        RpmaByteBuf buf = RegisteredMemory.take(shift);
        if (buf == null) {
            BYTES.addAndGet(-block);
            return null;
        }
        // A peer that claims to have written here without having done so must not cause foreign bytes to be read as its data.
        buf.slab().zero(buf.block().offset, size);
        try {
            LocalMemoryRegion region = buf.slab().register(fabric, buf.block().offset, size, USAGES);
            Area area = new Area(this, index, buf, size, region);
            buf.owner(area);
            areas[index] = area;
            createdNanos = System.nanoTime();
            return area;
        } catch (RpmaException e) {
            // Usually the limit of locked memory has been reached. The data then arrives in messages.
            LOGGER.debug("An area of {} bytes for large data could not be registered on {}.", size, fabric, e);
            RegisteredMemory.give(buf);
            BYTES.addAndGet(-block);
            refused = true;
            wanted = 0;
            return null;
        }
    }

    /** Returns the size of the area that the peer has to use next; 0 if it has none. */
    int next() {
        return count == 0 ? 0 : granted[head].size;
    }

    /** Called when the peer has filled the oldest area. The caller must release the returned buffer once. */
    RpmaByteBuf fill() {
        Area area = pop();
        area.state = Area.HELD;
        filled++;
        area.buf.reuse(area.size, area.size);
        return area.buf;
    }

    /** Called when a filled area has been read. */
    void read() {
        filled--;
    }

    /**
     * Called when the peer returns its oldest areas, because it has no more large data. Areas that were kept for it are freed. A
     * peer that repeatedly requests areas and returns them at once, which takes two small messages, is granted no more.
     *
     * @param areas how many; at most {@link #outstanding()}
     */
    void returned(int areas) {
        hasty = System.nanoTime() - createdNanos < HASTE_NANOS ? hasty + 1 : Math.max(0, hasty - 1);
        if (hasty >= MOST_HASTY) {
            refused = true;
        }
        free(areas);
    }

    private void free(int areas) {
        for (int i = 0; i < areas; i++) {
            pop().state = Area.FREE;
        }
        discard();
    }

    /**
     * Called when no more areas can be granted: those that neither the peer nor the application has are freed now, and the others
     * when they come back.
     */
    void grantNoMore() {
        refused = true;
        discard();
    }

    /** Reverts the latest grant, which could not be sent. */
    void withdraw() {
        count--;
        int tail = (head + count) % WINDOW;
        granted[tail].state = Area.FREE;
        granted[tail] = null;
    }

    /** Returns the number of areas that the peer has been granted and has not used. */
    int outstanding() {
        return count;
    }

    private Area pop() {
        Area area = granted[head];
        granted[head] = null;
        head = (head + 1) % WINDOW;
        count--;
        return area;
    }

    /**
     * Called when the peer can no longer write: all areas are freed, those that the application holds when it releases them.
     */
    void close() {
        free(count);
    }

    private void discard() {
        wanted = 0;
        kept = false;
        for (Area area : areas) {
            if (area != null) {
                area.discard();
            }
        }
    }

    /** A piece of registered memory that the peer may write to. */
    static final class Area implements RpmaByteBuf.Owner {
        private static final int FREE = 0;
        private static final int GRANTED = 1;
        private static final int HELD = 2;
        private static final int GONE = 3;

        private static final VarHandle STATE;

        static {
            try {
                STATE = MethodHandles.lookup().findVarHandle(Area.class, "state", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        final int index;
        final int size;
        private final BulkAreas owner;
        private final RpmaByteBuf buf;
        private final LocalMemoryRegion region;
        private final byte[] grant;
        // FREE to GRANTED to HELD by the event loop, HELD to FREE by the thread that releases the buffer, FREE to GONE by
        // either.
        private volatile int state = GRANTED;

        Area(BulkAreas owner, int index, RpmaByteBuf buf, int size, LocalMemoryRegion region) {
            this.owner = owner;
            this.index = index;
            this.buf = buf;
            this.size = size;
            this.region = region;
            ByteBuffer message = ByteBuffer.allocate(1 + region.descriptorSize()).put((byte) index);
            try {
                region.descriptor(message);
            } catch (RpmaException e) {
                throw new IllegalStateException("the descriptor could not be written, although the buffer has room for it", e);
            }
            grant = message.array();
        }

        /** Returns the message that grants the area: its number, and the descriptor of its memory. */
        byte[] message() {
            return grant;
        }

        /** Takes the area, unless the thread that released its buffer has just freed it. */
        private boolean take() {
            return STATE.compareAndSet(this, FREE, GRANTED);
        }

        @Override
        public void released() {
            state = FREE;
            if (!owner.kept) {
                discard();
            }
        }

        /** Frees the memory, unless the area is in use; the memory is reused when the peer can no longer write to it. */
        private void discard() {
            if (!STATE.compareAndSet(this, FREE, GONE)) {
                return;
            }
            try {
                region.close();
            } catch (RpmaException e) {
                // A device may still write to the memory, so it must not be reused.
                LOGGER.error("An area of {} bytes could not be deregistered on {}; its memory is lost.", size, owner.fabric, e);
                return;
            }
            LimboMemory.release(region::isQuiescent, buf.block().bytes(), this::free);
        }

        private void free() {
            buf.owner(null);
            int block = buf.block().bytes();
            RegisteredMemory.give(buf);
            BYTES.addAndGet(-block);
        }
    }
}
