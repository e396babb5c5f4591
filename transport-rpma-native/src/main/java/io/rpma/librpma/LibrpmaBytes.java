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

import io.rpma.RpmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** Copies descriptors and private data between buffers and the library's memory. */
final class LibrpmaBytes {
    // struct rpma_conn_private_data { void *ptr; uint8_t len; }
    private static final long PRIVATE_DATA_SIZE = 16;
    private static final long PRIVATE_DATA_LEN = 8;

    private LibrpmaBytes() {
    }

    /** Copies the remaining bytes of a buffer; its position does not move. The copy has an address even if there are none. */
    static MemorySegment copy(ByteBuffer source, Arena arena) {
        int size = source.remaining();
        MemorySegment copy = arena.allocate(Math.max(size, 1), 8);
        copy.asByteBuffer().put(0, source, source.position(), size);
        return copy;
    }

    /** Gets a descriptor from the library and appends it to a buffer. */
    static void descriptor(MethodHandle function, String name, long handle, int size, ByteBuffer target)
            throws RpmaException {
        if (target == null || target.isReadOnly() || target.remaining() < size) {
            throw LibrpmaFailure.invalid(name + ": the descriptor has " + size + " bytes, and the target " + (target == null
                ? "is null" : target.isReadOnly() ? "is read-only" : "has room for " + target.remaining()));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment descriptor = arena.allocate(size, 8);
            LibrpmaFailure.check(name, Librpma.call(function, handle, descriptor));
            target.put(descriptor.asByteBuffer());
        }
    }

    /** Returns the private data to connect with, {@code NULL} for none. */
    static MemorySegment privateData(ByteBuffer data, Arena arena) {
        if (data == null) {
            return MemorySegment.NULL;
        }
        MemorySegment struct = arena.allocate(PRIVATE_DATA_SIZE, 8);
        struct.set(JAVA_LONG, 0, copy(data, arena).address());
        struct.set(JAVA_BYTE, PRIVATE_DATA_LEN, (byte) data.remaining());
        return struct;
    }

    /** Returns a read-only copy of the private data that the other side has sent. */
    static ByteBuffer privateData(MethodHandle function, String name, long handle) throws RpmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(PRIVATE_DATA_SIZE, 8);
            LibrpmaFailure.check(name, Librpma.call(function, handle, struct));
            long address = struct.get(JAVA_LONG, 0);
            int size = address == 0 ? 0 : Byte.toUnsignedInt(struct.get(JAVA_BYTE, PRIVATE_DATA_LEN));
            byte[] copy = MemorySegment.ofAddress(address).reinterpret(size).toArray(JAVA_BYTE);
            return ByteBuffer.wrap(copy).asReadOnlyBuffer();
        }
    }
}
