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
package io.rpma.software;

import io.rpma.MemoryUsage;
import io.rpma.RegionDescriptor;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.util.Set;

/** A memory region of the other side as its descriptor describes it. The other side checks each access. Thread-safe. */
public abstract class SoftwareRemoteMemoryRegion implements RemoteMemoryRegion {
    private final SoftwareLog log;
    private final long address;
    private final long size;
    private final int key;
    private final int usages;
    private volatile boolean open = true;

    /**
     * Creates the region.
     *
     * @param log the log of the provider
     */
    protected SoftwareRemoteMemoryRegion(SoftwareLog log, RegionDescriptor descriptor) {
        this.log = log;
        address = descriptor.address();
        size = descriptor.size();
        key = descriptor.key();
        usages = descriptor.usages();
    }

    /**
     * Checks that the region has not been closed.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if it has been
     */
    protected final void checkOpen() throws RpmaException {
        if (!open) {
            throw log.failure(RpmaError.INVALID, "the remote memory region is closed");
        }
    }

    /** Returns the address of the region in the other process; it may be any value. */
    public final long address() {
        return address;
    }

    /** Returns the number by which the other side identifies the region; it may be any value. */
    public final int key() {
        return key;
    }

    @Override
    public final long size() {
        return size;
    }

    @Override
    public final Set<MemoryUsage> flushUsages() {
        return MemoryUsage.of(usages & (MemoryUsage.FLUSH_VISIBILITY.bit() | MemoryUsage.FLUSH_PERSISTENT.bit()));
    }

    @Override
    public final void close() {
        open = false;
    }
}
