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

import io.rpma.PeerConfig;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/** A peer configuration; its descriptor is librpma's: one byte. */
public final class PeerSettings implements PeerConfig {
    /** Bytes of a descriptor. */
    private static final int DESCRIPTOR_SIZE = 1;

    private final SoftwareLog log;
    private volatile boolean directWrite;
    private volatile boolean closed;

    /** Creates a configuration. */
    public PeerSettings(SoftwareLog log, boolean directWrite) {
        this.log = log;
        this.directWrite = directWrite;
    }

    /** Opens the configuration of the other side. */
    public static PeerSettings read(SoftwareLog log, ByteBuffer descriptor) throws RpmaException {
        if (descriptor == null || descriptor.remaining() < DESCRIPTOR_SIZE) {
            throw log.failure(RpmaError.INVALID, "a peer configuration's descriptor has " + DESCRIPTOR_SIZE + " byte, not "
                + (descriptor == null ? "null" : String.valueOf(descriptor.remaining())));
        }
        return new PeerSettings(log, descriptor.get(descriptor.position()) != 0);
    }

    private PeerSettings open() throws RpmaException {
        if (closed) {
            throw log.failure(RpmaError.INVALID, "the peer configuration is closed");
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
            throw log.failure(RpmaError.INVALID, "a peer configuration's descriptor needs " + DESCRIPTOR_SIZE
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
