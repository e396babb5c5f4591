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
package io.rpma.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.rpma.soft.shared.StreamingCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures what two threads do with memory: one writes a block and copies it past the caches, the other reads the copy. It is a
 * yardstick for streams between two processors: a transport has to do this, and more.
 */
final class TwoThreadEngine implements Engine {
    /** The number of blocks that can be copied and not read yet, as a transport has several buffers under way. */
    private static final int BLOCKS = 16;
    private static final int PAGE = 4096;

    @Override
    public Throwable unavailabilityCause() {
        return Runtime.getRuntime().availableProcessors() > 1 ? null
            : new UnsupportedOperationException("two threads that never sleep need two processors");
    }

    @Override
    public boolean measures(Measurement measurement) {
        return MemoryEngine.COPY.measures(measurement);
    }

    @Override
    public Server serve(Measurement measurement) {
        return MemoryEngine.COPY.serve(measurement);
    }

    @Override
    public Outcome measure(Measurement measurement, Timing timing, String address, Meter meter) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            Ring ring = new Ring(arena, measurement.bytes());
            Thread reader = Thread.ofPlatform().daemon().name("reader").start(ring::readAll);
            try {
                ring.write(System.nanoTime() + timing.warmUpNanos());
                Usage before = meter.read();
                long began = System.nanoTime();
                long bytes = ring.write(began + timing.windowNanos());
                return Outcome.ofStream(bytes, System.nanoTime() - began, meter.since(before));
            } finally {
                ring.over = true;
                reader.join();
            }
        }
    }

    /** The blocks that one thread passes to another. */
    private static final class Ring {
        // The indexes of the two counters, on cache lines of their own.
        private static final int WRITTEN = 16;
        private static final int READ = 48;
        private static final int LENGTH = 64;

        private final AtomicLongArray counters = new AtomicLongArray(LENGTH);
        private final int bytes;
        private final MemorySegment[] sources = new MemorySegment[BLOCKS];
        private final MemorySegment[] targets = new MemorySegment[BLOCKS];
        private volatile boolean over;
        private volatile boolean damaged;

        Ring(Arena arena, int bytes) {
            this.bytes = bytes;
            for (int i = 0; i < BLOCKS; i++) {
                sources[i] = arena.allocate(bytes, PAGE);
                targets[i] = arena.allocate(bytes, PAGE);
            }
        }

        private static ByteBuf[] buffers(MemorySegment[] blocks) {
            ByteBuf[] buffers = new ByteBuf[BLOCKS];
            for (int i = 0; i < BLOCKS; i++) {
                buffers[i] = Unpooled.wrappedBuffer(blocks[i].asByteBuffer());
            }
            return buffers;
        }

        /** Writes and copies blocks until the given time. Returns the number of bytes that were read meanwhile. */
        long write(long until) {
            ByteBuf[] buffers = buffers(sources);
            long before = counters.getAcquire(READ);
            long written = counters.getPlain(WRITTEN);
            while (System.nanoTime() - until < 0) {
                if (damaged) {
                    throw new IllegalStateException("what was read is not what was written");
                }
                if (written - counters.getAcquire(READ) == BLOCKS) {
                    Thread.onSpinWait();
                    continue;
                }
                int block = (int) (written % BLOCKS);
                PayloadSum.write(buffers[block].clear(), written * bytes / Long.BYTES, bytes);
                StreamingCopy.copy(sources[block].address(), targets[block].address(), bytes);
                counters.setRelease(WRITTEN, ++written);
            }
            return (counters.getAcquire(READ) - before) * bytes;
        }

        /** Reads blocks until the measurement is over. */
        void readAll() {
            ByteBuf[] buffers = buffers(targets);
            PayloadSum payload = new PayloadSum();
            long read = 0;
            while (!over) {
                if (counters.getAcquire(WRITTEN) == read) {
                    Thread.onSpinWait();
                    continue;
                }
                payload.add(buffers[(int) (read % BLOCKS)], 0, bytes);
                read++;
                if (payload.sum() != PayloadSum.expected(read * bytes / Long.BYTES)) {
                    damaged = true;
                    return;
                }
                counters.setRelease(READ, read);
            }
        }
    }
}
