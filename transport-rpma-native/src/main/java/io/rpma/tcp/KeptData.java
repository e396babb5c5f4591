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
package io.rpma.tcp;

import io.rpma.posix.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Data that a paused connection has read from its socket and not processed: the bytes behind the header of the request that has
 * no receive. It is no more than one system call has read. Only the holder of the queue pair uses it.
 */
final class KeptData {
    /** The most bytes of memory that a connection has after a pause in order to keep data in the next one. */
    private static final int LEAST = 1024;

    private MemorySegment memory;
    private long at;
    private long bytes;

    /** Keeps data. It may be the end of the data that was kept before. */
    void keep(long from, long length) {
        // What was kept before may end with this data; it then has room for it.
        if (memory == null || memory.byteSize() < length) {
            memory = Arena.ofAuto().allocate(Math.max(length, LEAST));
        }
        Memory.copy(from, memory.address(), length);
        at = memory.address();
        bytes = length;
    }

    long address() {
        return at;
    }

    /** Returns the number of bytes that are kept. From then on, none are. */
    long take() {
        long result = bytes;
        bytes = 0;
        return result;
    }

    /** Frees the memory, if it is larger than a connection may hold while it is not paused. */
    void trim() {
        if (memory.byteSize() > LEAST) {
            memory = null;
        }
    }
}
