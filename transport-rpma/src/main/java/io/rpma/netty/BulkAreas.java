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

import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that one connection's peer may write large data into, area by area: each is registered for remote writes for this
 * connection alone, granted, filled by one {@code rpma_write_with_imm(3)}, handed to the pipeline as the buffer it is, and
 * granted again when the pipeline has released it. Areas come when the peer has large data, and go when it has had none for a
 * while: a connection without holds none.
 *
 * <p>Used by the connection's event loop; only {@link Area#released()} is called by any thread.
 */
final class BulkAreas {
    /** So many areas at most, those that the application holds included. */
    static final int AREAS = 8;
    /** So many are granted, or filled and not yet read, at a time: the peer fills one while another is on its way. */
    static final int WINDOW = 4;

    /** What all connections together may hold. */
    private static final long MAX_BYTES =
        SystemPropertyUtil.getLong("io.rpma.netty.maxBulkBytes", RpmaByteBufAllocator.MAX_REGISTERED_BYTES / 4);
    private static final AtomicLong BYTES = new AtomicLong();

    private static final Set<MemoryUsage> USAGES = EnumSet.of(MemoryUsage.WRITE_DST);
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(BulkAreas.class);

    private final Fabric fabric;
    private final int largest;
    private final Area[] areas = new Area[AREAS];
    // What the peer has been granted and has not used, the oldest first.
    private final Area[] granted = new Area[WINDOW];
    private int head;
    private int count;
    private int filled;
    private int wanted;
    private boolean refused;
    // Whether an area that is released stays for the next grant; read by the threads that release.
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

    /** Bytes that the areas of all connections have. */
    static long bytes() {
        return BYTES.get();
    }

    /** The peer has large data of this size: areas that are granted from now on are large enough for it, or the largest. */
    void want(long bytes) {
        if (!refused) {
            int size = bytes >= largest ? largest : Math.min(largest, 1 << BuddyArena.shift((int) bytes));
            wanted = Math.max(wanted, size);
        }
    }

    /** Whether the peer may be granted an area, so far as its side of the window goes. */
    boolean isDue() {
        return wanted > 0 && count + filled < WINDOW;
    }

    /**
     * Takes an area to be granted.
     *
     * @return the area, or {@code null} if the application holds them all, or there is no memory for one
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
            // Too small for what the peer has now: another takes its place.
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
        if (BYTES.addAndGet(size) > MAX_BYTES) {
            BYTES.addAndGet(-size);
            return null;
        }
        RpmaByteBuf buf = RpmaByteBufAllocator.DEFAULT.take(BuddyArena.shift(size));
        if (buf == null) {
            BYTES.addAndGet(-size);
            return null;
        }
        // A peer that says to have written here, and has not, must not have somebody else's bytes read as its own.
        buf.slab().zero(buf.block().offset, size);
        try {
            LocalMemoryRegion region = buf.slab().register(fabric, buf.block().offset, size, USAGES);
            Area area = new Area(this, index, buf, size, region);
            buf.area(area);
            areas[index] = area;
            return area;
        } catch (RpmaException e) {
            // Most likely the limit of locked memory. The data comes in messages, as it always can.
            LOGGER.debug("No area of {} bytes for large data on {}.", size, fabric, e);
            RpmaByteBufAllocator.DEFAULT.give(buf);
            BYTES.addAndGet(-size);
            refused = true;
            wanted = 0;
            return null;
        }
    }

    /** The size of the area that the peer has to use next; 0 if it has none. */
    int next() {
        return count == 0 ? 0 : granted[head].size;
    }

    /** The peer has filled the oldest area; its buffer is to be released once. */
    RpmaByteBuf fill() {
        Area area = pop();
        area.state = Area.HELD;
        filled++;
        area.buf.reuse(area.size, area.size);
        return area.buf;
    }

    /** A filled area has been read. */
    void read() {
        filled--;
    }

    /**
     * The peer gives its oldest areas back: it has no large data. What was kept for it is freed.
     *
     * @param areas how many; at most {@link #outstanding()}
     */
    void returned(int areas) {
        for (int i = 0; i < areas; i++) {
            pop().state = Area.FREE;
        }
        discard();
    }

    /** Takes the latest grant back: it could not be sent. */
    void withdraw() {
        count--;
        int tail = (head + count) % WINDOW;
        granted[tail].state = Area.FREE;
        granted[tail] = null;
    }

    /** How many areas the peer has and has not used. */
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

    /** The peer can write no more: everything is freed now, or when the application releases it. */
    void close() {
        returned(count);
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
    static final class Area {
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
        // FREE to GRANTED to HELD by the event loop, HELD to FREE by whoever releases the buffer, FREE to GONE by either.
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
                throw new IllegalStateException("there is room for the descriptor", e);
            }
            grant = message.array();
        }

        /** The message that grants the area: its number, and the descriptor of its memory. */
        byte[] message() {
            return grant;
        }

        /** Takes the area, unless it has just been freed by the thread that released its buffer. */
        private boolean take() {
            return STATE.compareAndSet(this, FREE, GRANTED);
        }

        /** Nobody refers to the buffer any more. */
        void released() {
            state = FREE;
            if (!owner.kept) {
                discard();
            }
        }

        /** Frees the memory, if nobody uses it: when the peer can no longer write to it. */
        private void discard() {
            if (!STATE.compareAndSet(this, FREE, GONE)) {
                return;
            }
            try {
                region.close();
            } catch (RpmaException e) {
                // A device may still write to it: it must not be used for anything else.
                LOGGER.error("An area of {} bytes could not be deregistered on {}; its memory is lost.", size, owner.fabric, e);
                return;
            }
            LimboMemory.release(region::isQuiescent, size, this::free);
        }

        private void free() {
            buf.area(null);
            RpmaByteBufAllocator.DEFAULT.give(buf);
            BYTES.addAndGet(-size);
        }
    }
}
