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
package io.rpma.soft;

import java.util.concurrent.atomic.AtomicInteger;

/** Memory of this process that peers can map: what one {@code commit} put into an address range. */
final class Segment {
    private final int id;
    private final SharedMemory memory;
    private final AtomicInteger regions = new AtomicInteger();

    Segment(int id, SharedMemory memory) {
        this.id = id;
        this.memory = memory;
    }

    /** Returns the number that this process gave it, never the same twice; at least 1. */
    int id() {
        return id;
    }

    long address() {
        return memory.address();
    }

    long size() {
        return memory.size();
    }

    int fd() {
        return memory.fd();
    }

    /** Returns the number of regions registered in it. */
    AtomicInteger regions() {
        return regions;
    }

    boolean contains(long address, long length) {
        return address >= memory.address() && length <= memory.size() - (address - memory.address());
    }

    void release() {
        memory.release();
    }
}
