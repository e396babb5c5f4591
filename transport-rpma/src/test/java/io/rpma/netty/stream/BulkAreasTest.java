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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;
import io.rpma.netty.memory.RegisteredMemory;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the memory of one connection that its peer writes large data into. */
@Timeout(60)
class BulkAreasTest {
    /**
     * An area is freed once, either by the thread that releases its buffer or by the event loop that does not need it any more,
     * whichever comes first.
     */
    @Test
    void anAreaIsFreedOnce() throws Exception {
        BulkAreas areas = newAreas(1 << 20);
        long before = RegisteredMemory.usedBytes();
        BlockingQueue<ByteBuf> filled = new LinkedBlockingQueue<>();
        Thread releaser = new Thread(() -> {
            try {
                for (ByteBuf buf = filled.take(); buf.isReadable(); buf = filled.take()) {
                    buf.release();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        releaser.start();
        Random random = new Random(11);
        int returns = 0;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (System.nanoTime() < end) {
            areas.want(128 << 10);
            if (areas.isDue() && areas.grant() != null) {
                filled.add(areas.fill().writeByte(1));
                areas.read();
            }
            if (random.nextBoolean()) {
                areas.returned(areas.outstanding());
                if (++returns % 8 == 0) {
                    // A connection gets no more areas if its peer returns them at once again and again.
                    areas.close();
                    areas = newAreas(1 << 20);
                }
            }
        }
        areas.close();
        filled.add(Unpooled.EMPTY_BUFFER);
        releaser.join();
        assertEquals(0, BulkAreas.bytes());
        // Channels of other tests may still be releasing small buffers.
        assertEquals(before, RegisteredMemory.usedBytes(), 64 << 10);
    }

    /** Creating areas costs this end much more than it costs a peer to request and return them. */
    @Test
    void aPeerThatReturnsAreasAtOnceGetsNoMore() throws Exception {
        BulkAreas areas = newAreas(64 << 10);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        areas.want(64 << 10);
        while (areas.isDue()) {
            assertTrue(System.nanoTime() - end < 0, "the peer gets areas again and again");
            areas.grant();
            areas.returned(areas.outstanding());
            areas.want(64 << 10);
        }
        areas.close();
        assertEquals(0, BulkAreas.bytes());
    }

    /** The memory of an area is a block whose size is a power of two. The limit for all connections refers to the blocks. */
    @Test
    void theWholeBlockOfAnAreaCounts() throws Exception {
        BulkAreas areas = newAreas(192 << 10);
        areas.want(192 << 10);
        assertEquals(192 << 10, areas.grant().size);
        assertEquals(256 << 10, BulkAreas.bytes());
        areas.close();
        assertEquals(0, BulkAreas.bytes());
    }

    private static BulkAreas newAreas(int largest) throws RpmaException {
        return new BulkAreas(Fabric.of(Rpma.provider().devices().getFirst()), largest);
    }
}
