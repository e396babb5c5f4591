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

import io.rpma.RegionDescriptor;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.software.SoftwareRemoteMemoryRegion;
import java.nio.ByteBuffer;

/** A memory region of the other side as its descriptor describes it. The other side checks each access. */
final class TcpRemoteMemoryRegion extends SoftwareRemoteMemoryRegion {
    private TcpRemoteMemoryRegion(RegionDescriptor descriptor) {
        super(TcpLog.INSTANCE, descriptor);
    }

    /** Reads a descriptor. */
    static TcpRemoteMemoryRegion read(ByteBuffer descriptor) throws RpmaException {
        return new TcpRemoteMemoryRegion(TcpLog.DESCRIPTORS.read(descriptor));
    }

    /** Returns the implementation of a region. */
    static TcpRemoteMemoryRegion of(RemoteMemoryRegion region) throws RpmaException {
        if (region == null) {
            return null;
        }
        if (!(region instanceof TcpRemoteMemoryRegion tcp)) {
            throw TcpLog.failure(RpmaError.INVALID, "the memory region belongs to another provider: " + region);
        }
        tcp.checkOpen();
        return tcp;
    }

    /** Returns the address at an offset, or -1, which is no valid address, if the offset exceeds the address space. */
    long address(long offset) {
        long start = address();
        long at = start + offset;
        return at - start < 0 || (at ^ start) < 0 ? -1 : at;
    }

    /** Returns the key as it is sent: as an unsigned number. */
    long unsignedKey() {
        return key() & 0xffff_ffffL;
    }
}
