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
import java.util.stream.Stream;

/**
 * Measures what one thread does with memory alone. It is a yardstick for streams, because a stream cannot be transferred at a
 * lower cost.
 */
enum MemoryEngine implements Engine {
    /** Copies blocks of memory. */
    COPY,
    /** Writes a block, copies it and reads the copy, as the two ends of a stream do, with no transport between them. */
    WRITE_COPY_READ;

    /** The number of memory blocks that are used in turn, as a transport uses its buffers. */
    private static final int BLOCKS = 16;

    @Override
    public Throwable unavailabilityCause() {
        return null;
    }

    @Override
    public boolean measures(Measurement measurement) {
        return measurement.kind() == Kind.STREAM && measurement.connections() == 1;
    }

    @Override
    public Server serve(Measurement measurement) {
        return new Server() {
            @Override
            public String address() {
                return "none";
            }

            @Override
            public void close() {
                // There is no server to close.
            }
        };
    }

    @Override
    public Outcome measure(Measurement measurement, Timing timing, String address, Meter meter) throws Exception {
        Blocks blocks = new Blocks(measurement.bytes());
        move(blocks, System.nanoTime() + timing.warmUpNanos());
        Usage before = meter.read();
        long began = System.nanoTime();
        long bytes = move(blocks, began + timing.windowNanos());
        long nanos = System.nanoTime() - began;
        return Outcome.ofStream(bytes, nanos, meter.since(before));
    }

    private long move(Blocks blocks, long until) {
        long moved = 0;
        while (System.nanoTime() - until < 0) {
            // The clock is read once per round over all blocks, so that its cost does not count.
            for (int i = 0; i < BLOCKS; i++) {
                if (this == COPY) {
                    blocks.copy(i);
                } else {
                    blocks.writeCopyRead(i);
                }
            }
            moved += (long) BLOCKS * blocks.bytes;
        }
        return moved;
    }

    /** The blocks to read from and to write to. */
    private static final class Blocks {
        final int bytes;
        private final ByteBuf[] sources;
        private final ByteBuf[] targets;
        private final PayloadSum payload = new PayloadSum();
        private long written;

        Blocks(int bytes) {
            this.bytes = bytes;
            sources = newBlocks();
            targets = newBlocks();
        }

        private ByteBuf[] newBlocks() {
            return Stream.generate(() -> Unpooled.directBuffer(bytes).writeZero(bytes)).limit(BLOCKS).toArray(ByteBuf[]::new);
        }

        void copy(int i) {
            targets[i].setBytes(0, sources[i], 0, bytes);
        }

        void writeCopyRead(int i) {
            PayloadSum.write(sources[i].clear(), written / Long.BYTES, bytes);
            written += bytes;
            copy(i);
            payload.add(targets[i], 0, bytes);
            if (payload.sum() != PayloadSum.expected(written / Long.BYTES)) {
                throw new IllegalStateException("what was read is not what was written");
            }
        }
    }
}
