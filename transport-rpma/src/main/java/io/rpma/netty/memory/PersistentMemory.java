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

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import jdk.nio.mapmode.ExtendedMapMode;

/** Maps files, and distinguishes persistent memory from other files. */
public final class PersistentMemory {
    private PersistentMemory() {
    }

    /**
     * Maps a part of a file.
     *
     * @param persistent whether flushes must reach the medium
     */
    public static MemorySegment map(FileChannel file, long position, long bytes, boolean persistent, Arena arena)
            throws IOException {
        if (position < 0 || bytes < 1) {
            throw new IllegalArgumentException("position " + position + " and size " + bytes
                + " of a mapped region; the position must be at least 0, and the size at least 1");
        }
        if (!persistent) {
            return file.map(MapMode.READ_WRITE, position, bytes, arena);
        }
        try {
            return file.map(ExtendedMapMode.READ_WRITE_SYNC, position, bytes, arena);
        } catch (IOException | UnsupportedOperationException e) {
            throw new IOException("the file cannot be registered for FLUSH_PERSISTENT: it does not lie in persistent memory"
                + " (a DAX filesystem); use FLUSH_VISIBILITY, and MemorySegment.force() for data that must survive a failure of"
                + " the machine", e);
        }
    }
}
