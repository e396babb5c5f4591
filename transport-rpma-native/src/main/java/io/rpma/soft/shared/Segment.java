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
package io.rpma.soft.shared;

import java.util.concurrent.atomic.AtomicInteger;

/** Memory of this process that peers can map: what one {@code commit} put into an address range. */
public final class Segment {
    private final Range range;
    private final long address;
    private final long size;
    private final AtomicInteger regions = new AtomicInteger();
    private final AtomicInteger lingering = new AtomicInteger();

    Segment(Range range, long address, long size) {
        this.range = range;
        this.address = address;
        this.size = size;
    }

    /** Returns the range that contains it. */
    public Range range() {
        return range;
    }

    public long address() {
        return address;
    }

    public long size() {
        return size;
    }

    /** Returns the number of regions registered in it. */
    public AtomicInteger regions() {
        return regions;
    }

    /** Returns the number of regions that are closed, but that a peer may still access. */
    public AtomicInteger lingering() {
        return lingering;
    }

    public boolean contains(long other, long length) {
        return other >= address && length <= size - (other - address);
    }
}
