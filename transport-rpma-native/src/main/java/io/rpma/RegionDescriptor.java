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

package io.rpma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The descriptor of a memory region, as a process sends it to a peer ({@code rpma_mr_get_descriptor(3)}). All providers use the
 * format of librpma 1.x: {@value #BYTES} bytes, little-endian, with the address, the size, the key and the usages, in this order
 * and without padding. Whoever receives a descriptor must not trust it.
 *
 * @param address the address of the region in the process that registered it
 * @param size the size of the region in bytes
 * @param key the key of the region
 * @param usages the usages that the region was registered for ({@link MemoryUsage#of(int)})
 */
public record RegionDescriptor(long address, long size, int key, int usages) {
    /** The size of a descriptor in bytes ({@code rpma_mr_get_descriptor_size(3)}). */
    public static final int BYTES = 21;

    private static final int SIZE = 8;
    private static final int KEY = 16;
    private static final int USAGES = 20;

    /**
     * Reads a descriptor. No value is checked.
     *
     * @param bytes has at least {@value #BYTES} bytes at its position, which does not move
     * @return what the descriptor says
     */
    public static RegionDescriptor read(ByteBuffer bytes) {
        ByteBuffer little = bytes.slice(bytes.position(), BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return new RegionDescriptor(little.getLong(0), little.getLong(SIZE), little.getInt(KEY), little.get(USAGES) & 0xff);
    }

    /**
     * Writes this descriptor.
     *
     * @param target has room for at least {@value #BYTES} bytes at its position, which moves behind them
     */
    public void write(ByteBuffer target) {
        target.slice(target.position(), BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(address).putLong(size).putInt(key)
            .put((byte) usages);
        target.position(target.position() + BYTES);
    }
}
