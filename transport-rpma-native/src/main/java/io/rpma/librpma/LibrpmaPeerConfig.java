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

import io.rpma.PeerConfig;
import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct rpma_peer_cfg}. */
final class LibrpmaPeerConfig extends LibrpmaHandle implements PeerConfig {
    private LibrpmaPeerConfig(long handle) {
        super("peer configuration", handle);
    }

    /** Creates a configuration with the library's defaults. */
    static LibrpmaPeerConfig create() throws RpmaException {
        return new LibrpmaPeerConfig(create(Librpma.PEER_CFG_NEW, "rpma_peer_cfg_new"));
    }

    /** Opens the configuration that the other side has described. */
    static LibrpmaPeerConfig open(ByteBuffer descriptor) throws RpmaException {
        if (descriptor == null) {
            throw LibrpmaFailure.invalid("rpma_peer_cfg_from_descriptor: the descriptor is null");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            int size = descriptor.remaining();
            int code = Librpma.call(Librpma.PEER_CFG_FROM_DESCRIPTOR, LibrpmaBytes.copy(descriptor, arena), size, pointer);
            if (code != 0) {
                throw LibrpmaFailure.of("rpma_peer_cfg_from_descriptor", code, 0, "the descriptor has " + size + " bytes");
            }
            return new LibrpmaPeerConfig(pointer.get(JAVA_LONG, 0));
        }
    }

    @Override
    public boolean isDirectWriteToPmem() throws RpmaException {
        return getBoolean(Librpma.PEER_CFG_GET_DIRECT_WRITE_TO_PMEM, "rpma_peer_cfg_get_direct_write_to_pmem", handle());
    }

    @Override
    public PeerConfig directWriteToPmem(boolean supported) throws RpmaException {
        LibrpmaFailure.check("rpma_peer_cfg_set_direct_write_to_pmem",
            Librpma.call(Librpma.PEER_CFG_SET_DIRECT_WRITE_TO_PMEM, handle(), supported));
        return this;
    }

    @Override
    public int descriptorSize() throws RpmaException {
        return (int) getLong(Librpma.PEER_CFG_GET_DESCRIPTOR_SIZE, "rpma_peer_cfg_get_descriptor_size", handle());
    }

    @Override
    public void descriptor(ByteBuffer target) throws RpmaException {
        LibrpmaBytes.descriptor(Librpma.PEER_CFG_GET_DESCRIPTOR, "rpma_peer_cfg_get_descriptor", handle(), descriptorSize(),
            target);
    }

    @Override
    public void close() throws RpmaException {
        long pointer = take();
        if (pointer != 0) {
            delete(Librpma.PEER_CFG_DELETE, "rpma_peer_cfg_delete", pointer);
        }
    }
}
