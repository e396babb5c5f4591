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

package io.rpma.netty.memory;

import io.netty.buffer.AbstractByteBufTest;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

/** Runs Netty's tests of buffers on registered buffers. */
class RpmaByteBufTest extends AbstractByteBufTest {
    @Override
    protected ByteBuf newBuffer(int capacity, int maxCapacity) {
        ByteBuf buf = RegisteredMemory.registered(capacity, maxCapacity);
        assertInstanceOf(RpmaByteBuf.class, buf);
        assertEquals(0, buf.writerIndex());
        assertEquals(0, buf.readerIndex());
        return buf;
    }

    @Override
    @Test
    public void testMaxFastWritableBytes() {
        // A pooled buffer can grow within its block without being copied.
        ByteBuf buf = newBuffer(150, 500).writerIndex(100);
        assertEquals(50, buf.writableBytes());
        assertEquals(256 - 100, buf.maxFastWritableBytes());
        assertEquals(400, buf.maxWritableBytes());
        buf.release();
    }
}
