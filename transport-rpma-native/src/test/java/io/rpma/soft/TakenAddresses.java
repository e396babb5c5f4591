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

import io.rpma.posix.Posix;
import java.util.ArrayList;
import java.util.List;

/** Reserves addresses of this process until there is no free range of a certain size, so that such a range cannot be mapped. */
public final class TakenAddresses implements AutoCloseable {
    private final long size;
    private final List<Long> taken = new ArrayList<>();

    /**
     * Reserves the addresses.
     *
     * @param size in bytes; so large that the rest of the process does not need a range of this size
     */
    public TakenAddresses(long size) {
        this.size = size;
        long address = reserve();
        while (address > 0) {
            taken.add(address);
            address = reserve();
        }
    }

    private long reserve() {
        return Posix.mmap(0, size, 0, Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS | Posix.MAP_NORESERVE, -1, 0);
    }

    /** Returns whether any addresses had to be reserved. */
    public boolean areAny() {
        return !taken.isEmpty();
    }

    @Override
    public void close() {
        taken.forEach(address -> Posix.munmap(address, size));
    }
}
