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
    /** The fewest bytes of memory that are allocated, and the most that a connection holds while it is not paused. */
    private static final int LEAST = 1024;

    private MemorySegment memory;
    private long bytes;

    /** Keeps data, which may be the end of the data that was kept before. The memory then has room for it and is not replaced. */
    void keep(long from, long length) {
        if (memory == null || memory.byteSize() < length) {
            memory = Arena.ofAuto().allocate(Math.max(length, LEAST));
        }
        Memory.copy(from, memory.address(), length);
        bytes = length;
    }

    /** Returns the address of the data. Only after {@link #keep}, and before {@link #trim}. */
    long address() {
        return memory.address();
    }

    /** Returns how many bytes are kept, and forgets them. The memory still contains them until {@link #keep} or {@link #trim}. */
    long take() {
        long result = bytes;
        bytes = 0;
        return result;
    }

    /** Called when a pause has ended: frees the memory if there is more than a connection holds while it is not paused. */
    void trim() {
        if (memory.byteSize() > LEAST) {
            memory = null;
        }
    }
}
