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

package io.rpma.netty;

import io.rpma.PeerConfig;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/**
 * Describes the platform of a process to its peers ({@code rpma_peer_cfg_new(3)}): whether writes from a peer go directly to
 * persistent memory. The description is a descriptor of one byte, which is sent in private data or in any message, and is
 * applied by {@link RpmaMessageChannel#applyPeerConfig} or {@link RpmaChannel#applyPeerConfig}.
 */
public final class RpmaPeerConfig {
    private RpmaPeerConfig() {
    }

    /**
     * Returns the descriptor of this process ({@code rpma_peer_cfg_get_descriptor(3)}).
     *
     * @param directWriteToPmem {@code true} only if the platform keeps writes of the device out of volatile caches; otherwise
     *     peers cannot flush to persistence
     * @return the descriptor, one byte
     */
    public static ByteBuffer descriptor(boolean directWriteToPmem) throws RpmaException {
        try (PeerConfig config = Rpma.provider().newPeerConfig()) {
            config.directWriteToPmem(directWriteToPmem);
            ByteBuffer descriptor = ByteBuffer.allocate(config.descriptorSize());
            config.descriptor(descriptor);
            return descriptor.flip();
        }
    }
}
