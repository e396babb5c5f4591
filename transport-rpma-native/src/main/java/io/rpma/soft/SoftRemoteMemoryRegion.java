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

import io.rpma.RegionDescriptor;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.SoftwareRemoteMemoryRegion;
import java.nio.ByteBuffer;

/** A memory region of the other side as its descriptor describes it. The allowed access is in the other side's table. */
final class SoftRemoteMemoryRegion extends SoftwareRemoteMemoryRegion {
    private SoftRemoteMemoryRegion(RegionDescriptor descriptor) {
        super(SoftLog.INSTANCE, descriptor);
    }

    /** Reads a descriptor. */
    static SoftRemoteMemoryRegion read(ByteBuffer descriptor) throws RpmaException {
        return new SoftRemoteMemoryRegion(SoftLog.DESCRIPTORS.read(descriptor));
    }

    /** Returns the implementation of a region. */
    static SoftRemoteMemoryRegion of(RemoteMemoryRegion region) throws RpmaException {
        if (region == null) {
            return null;
        }
        if (!(region instanceof SoftRemoteMemoryRegion soft)) {
            throw SoftLog.failure(RpmaError.INVALID, "the memory region belongs to another provider: " + region);
        }
        soft.checkOpen();
        return soft;
    }
}
