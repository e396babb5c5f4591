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

import io.rpma.PeerConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/** A peer configuration; its descriptor is librpma's: one byte. */
final class SoftPeerConfig implements PeerConfig {
    /** Bytes of a descriptor. */
    static final int DESCRIPTOR_SIZE = 1;

    private volatile boolean directWrite;
    private volatile boolean closed;

    SoftPeerConfig(boolean directWrite) {
        this.directWrite = directWrite;
    }

    private SoftPeerConfig open() throws RpmaException {
        if (closed) {
            throw SoftLog.failure(RpmaError.INVALID, "the peer configuration is closed");
        }
        return this;
    }

    @Override
    public boolean isDirectWriteToPmem() throws RpmaException {
        return open().directWrite;
    }

    @Override
    public PeerConfig directWriteToPmem(boolean supported) throws RpmaException {
        open().directWrite = supported;
        return this;
    }

    @Override
    public int descriptorSize() throws RpmaException {
        open();
        return DESCRIPTOR_SIZE;
    }

    @Override
    public void descriptor(ByteBuffer target) throws RpmaException {
        if (target == null || target.isReadOnly() || target.remaining() < DESCRIPTOR_SIZE) {
            throw SoftLog.failure(RpmaError.INVALID, "a peer configuration's descriptor needs " + DESCRIPTOR_SIZE
                + " byte; the buffer has " + (target == null ? "not been given"
                    : target.isReadOnly() ? "no write access" : target.remaining() + " left"));
        }
        target.put((byte) (open().directWrite ? 1 : 0));
    }

    @Override
    public void close() {
        closed = true;
    }
}
