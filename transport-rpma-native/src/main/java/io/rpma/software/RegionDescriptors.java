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

import io.rpma.RegionDescriptor;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/** Checks the buffers that descriptors of memory regions are written to and read from. */
public final class RegionDescriptors {
    private final SoftwareLog log;

    /**
     * Creates the functions for one provider.
     *
     * @param log the log of the provider
     */
    public RegionDescriptors(SoftwareLog log) {
        this.log = log;
    }

    /**
     * Checks a buffer that a descriptor is to be written to.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if there is none, or if it has not enough room
     */
    public void checkTarget(ByteBuffer target) throws RpmaException {
        if (target == null || target.isReadOnly() || target.remaining() < RegionDescriptor.BYTES) {
            throw log.failure(RpmaError.INVALID, "a memory region's descriptor needs " + RegionDescriptor.BYTES
                + " bytes; the buffer has " + (target == null ? "not been given"
                    : target.isReadOnly() ? "no write access" : target.remaining() + " left"));
        }
    }

    /**
     * Reads a descriptor that a peer has sent. Its values are not checked, except that it names a usage.
     *
     * @throws RpmaException {@link RpmaError#INVALID} if the buffer does not contain exactly a descriptor
     */
    public RegionDescriptor read(ByteBuffer source) throws RpmaException {
        int size = source == null ? 0 : source.remaining();
        if (size != RegionDescriptor.BYTES) {
            throw log.failure(RpmaError.INVALID, "a memory region's descriptor has " + RegionDescriptor.BYTES + " bytes, not "
                + size);
        }
        RegionDescriptor descriptor = RegionDescriptor.read(source);
        if (descriptor.usages() == 0) {
            throw log.failure(RpmaError.INVALID, "this is not a descriptor of a memory region: its usages are 0");
        }
        return descriptor;
    }
}
