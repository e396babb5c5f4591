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
package io.rpma.librpma;

import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_mr_remote}. */
final class LibrpmaRemoteMemoryRegion extends LibrpmaHandle implements RemoteMemoryRegion {
    // Address and size (8 bytes each), key (4), usages (1): the same in all of librpma 1.x. The library reads this many bytes
    // and ignores any that follow.
    private static final int DESCRIPTOR_SIZE = 21;

    private final long size;
    private final Set<MemoryUsage> flushUsages;

    private LibrpmaRemoteMemoryRegion(long handle) throws RpmaException {
        super("remote memory region", handle);
        size = getLong(Librpma.MR_REMOTE_GET_SIZE, "rpma_mr_remote_get_size", handle);
        flushUsages = Collections.unmodifiableSet(MemoryUsage.of(
            getInt(Librpma.MR_REMOTE_GET_FLUSH_TYPE, "rpma_mr_remote_get_flush_type", handle)));
        if (size < 0) {
            throw LibrpmaFailure.invalid("rpma_mr_remote_from_descriptor: this is not a descriptor of a memory region; its size"
                + " would be " + Long.toUnsignedString(size) + " bytes");
        }
    }

    /** Opens the region that the other side described. */
    static LibrpmaRemoteMemoryRegion open(ByteBuffer descriptor) throws RpmaException {
        if (descriptor == null || descriptor.remaining() != DESCRIPTOR_SIZE) {
            throw LibrpmaFailure.invalid("rpma_mr_remote_from_descriptor: the descriptor " + (descriptor == null
                ? "is null" : "has " + descriptor.remaining() + " bytes") + "; it must have " + DESCRIPTOR_SIZE);
        }
        long handle;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int code = Librpma.call(Librpma.MR_REMOTE_FROM_DESCRIPTOR, LibrpmaBytes.copy(descriptor, arena), DESCRIPTOR_SIZE,
                pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_mr_remote_from_descriptor", code, 0, "this is not a descriptor of a memory region");
            }
            handle = pointer.get(JAVA_LONG, 0);
        }
        try {
            return new LibrpmaRemoteMemoryRegion(handle);
        } catch (Throwable e) {
            delete(Librpma.MR_REMOTE_DELETE, handle);
            throw e;
        }
    }

    /** Returns the pointer of a region, 0 for {@code null}. */
    static long pointer(RemoteMemoryRegion region) throws RpmaException {
        if (region instanceof LibrpmaRemoteMemoryRegion own) {
            return own.handle();
        }
        if (region == null) {
            return 0;
        }
        throw LibrpmaFailure.invalid("the remote memory region does not belong to the provider librpma: " + region);
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public Set<MemoryUsage> flushUsages() {
        return flushUsages;
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer != 0) {
            delete(Librpma.MR_REMOTE_DELETE, "rpma_mr_remote_delete", pointer);
        }
    }
}
