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
package io.rpma.examples;

import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.netty.RpmaRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The memory that clients append to, and the file behind it.
 *
 * <p>If a flush of the client is sufficient, the memory is a mapping of the file itself. Otherwise it is memory of this process,
 * which {@link #commit} copies to the file. The copy is necessary because a device cannot write to the page cache of a disk's
 * file system, and because a flush does not reach the disk. Not safe for use by several threads at a time.
 */
final class LogStore implements AutoCloseable {
    private final FileChannel file;
    private final LogDurability durability;
    private final int laneBytes;
    private final RpmaRegion region;
    /** The tail of each lane in the file. */
    private final long[] tails;
    /** The first error of the file, after which its content is unknown. */
    private IOException failure;

    /** Opens or creates a log. */
    LogStore(Path path, int lanes, int laneBytes, boolean persistentMemory, boolean sync) throws IOException {
        this.laneBytes = laneBytes;
        tails = new long[lanes];
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        RpmaRegion opened = null;
        try {
            checkLanes(path);
            durability = LogDurability.of(path, persistentMemory, sync);
            opened = durability.isByServer() ? allocate((long) lanes * laneBytes) : map((long) lanes * laneBytes);
            region = opened;
            if (durability.isByServer()) {
                load(path);
            }
        } catch (Throwable e) {
            if (opened != null) {
                opened.release();
            }
            file.close();
            throw e;
        }
    }

    /** Lanes of another size would overlap the records of the log. */
    private void checkLanes(Path path) throws IOException {
        int existing = LogFormat.laneBytes(file);
        if (existing == 0 && !LogFormat.isNew(file)) {
            throw new IOException(path + " is no log: it has other content");
        } else if (existing == 0) {
            LogFormat.setLaneBytes(file, laneBytes);
        } else if (existing != laneBytes) {
            throw new IOException(path + " is another log: its lanes have " + existing + " bytes, not " + laneBytes
                + "; --records and --record-bytes must be those that it was created with");
        }
    }

    private RpmaRegion map(long bytes) throws IOException {
        return durability == LogDurability.PERSISTENT_MEMORY
            ? RpmaRegion.map(file, 0, bytes, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_VISIBILITY,
                MemoryUsage.FLUSH_PERSISTENT)
            : RpmaRegion.map(file, 0, bytes, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_VISIBILITY);
    }

    private static RpmaRegion allocate(long bytes) throws RpmaException {
        return RpmaRegion.allocate(bytes, MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_VISIBILITY);
    }

    /**
     * Reads the content of the file and makes it durable, because a server that was killed may have left some of it in the page
     * cache.
     */
    private void load(Path path) throws IOException {
        if (file.size() < region.size()) {
            file.write(ByteBuffer.allocate(1), region.size() - 1);
        }
        for (int lane = 0; lane < tails.length; lane++) {
            read(lane, 0, LogFormat.HEADER_BYTES);
            long tail = tail(lane);
            if (tail > laneBytes || tail % Long.BYTES != 0) {
                throw new IOException("lane " + lane + " of " + path + " has its tail at " + tail + "; lanes have " + laneBytes
                    + " bytes");
            }
            read(lane, LogFormat.HEADER_BYTES, tail);
            tails[lane] = tail;
        }
        sync();
        if (durability == LogDurability.DISK) {
            // The file can only be found after a power failure if its directory entry is durable.
            try (FileChannel folder = FileChannel.open(path.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
                folder.force(true);
            }
        }
    }

    private void read(int lane, long from, long to) throws IOException {
        ByteBuffer target = memory(lane, from, to);
        for (long position = lane * (long) laneBytes + from; target.hasRemaining();) {
            int read = file.read(target, position);
            if (read < 0) {
                throw new IOException("lane " + lane + " ends at " + position + " of the file");
            }
            position += read;
        }
    }

    private void write(int lane, long from, ByteBuffer bytes) throws IOException {
        for (long position = lane * (long) laneBytes + from; bytes.hasRemaining();) {
            position += file.write(bytes, position);
        }
    }

    private void sync() throws IOException {
        if (durability == LogDurability.DISK) {
            file.force(false);
        }
    }

    private ByteBuffer memory(int lane, long from, long to) {
        return region.memory().asSlice(lane * (long) laneBytes + from, to - from).asByteBuffer();
    }

    /** Returns the tail of a lane in memory. The value is not trusted, because a client may have written anything there. */
    private long tail(int lane) {
        MemorySegment word = region.memory().asSlice(lane * (long) laneBytes, Long.BYTES);
        return Math.max(LogFormat.HEADER_BYTES, (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(word, 0L));
    }

    RpmaRegion region() {
        return region;
    }

    LogDurability durability() {
        return durability;
    }

    /**
     * Copies the new records of a lane to the file. When they are on the disk, it writes the tail that includes them.
     *
     * @return the tail; all records before it are durable
     * @throws IOException if the file cannot be written, or if the tail of the lane is invalid
     */
    long commit(int lane) throws IOException {
        long durable = tails[lane];
        long tail = tail(lane);
        if (tail < durable || tail > laneBytes || tail % Long.BYTES != 0) {
            throw new IOException("the tail of lane " + lane + " was moved from " + durable + " to " + tail + "; lanes have "
                + laneBytes + " bytes, and records are padded to 8");
        }
        if (tail > durable) {
            if (failure != null) {
                throw new IOException("the log's file failed before: " + failure.getMessage(), failure);
            }
            try {
                write(lane, durable, memory(lane, durable, tail));
                sync();
                write(lane, 0, ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(0, tail));
                sync();
            } catch (IOException e) {
                // After the error, it is unknown what the disk contains.
                failure = e;
                throw e;
            }
            tails[lane] = tail;
        }
        return tail;
    }

    /**
     * Discards the records that a writer has appended without receiving an acknowledgement, so that the next writer finds exactly
     * the durable records.
     */
    void cut(int lane) {
        MemorySegment word = region.memory().asSlice(lane * (long) laneBytes, Long.BYTES);
        ValueLayout.JAVA_LONG.varHandle().setRelease(word, 0L, tails[lane]);
    }

    @Override
    public void close() throws IOException {
        region.release();
        file.close();
    }
}
