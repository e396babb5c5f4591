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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.rpma.RpmaError;
import io.rpma.RpmaException;

/** Creates copies in registered memory of buffers that the device cannot access. */
public final class RegisteredCopy {
    private RegisteredCopy() {
    }

    /** Returns whether a buffer is in registered memory, in one piece. */
    public static boolean isRegistered(ByteBuf buffer) {
        return buffer.hasMemoryAddress() && !(buffer instanceof CompositeByteBuf)
            && RegisteredMemory.slab(buffer.memoryAddress()) != null;
    }

    /** Copies the readable bytes of a buffer, which is not modified. */
    public static RpmaByteBuf of(ByteBuf buffer) throws RpmaException {
        RpmaByteBuf copy = empty(buffer.readableBytes());
        copy.writeBytes(buffer, buffer.readerIndex(), buffer.readableBytes());
        return copy;
    }

    /** Allocates registered memory. */
    public static RpmaByteBuf empty(int bytes) throws RpmaException {
        if (bytes > RegisteredMemory.MAX_CAPACITY) {
            throw new RpmaException(RpmaError.INVALID, bytes + " bytes of a buffer are more than the "
                + RegisteredMemory.MAX_CAPACITY + " that a registered buffer can hold: split them, or use a region");
        }
        RpmaByteBuf memory = RegisteredMemory.registered(bytes, bytes);
        if (memory == null) {
            throw new RpmaException(RpmaError.NO_MEMORY, "no registered memory is left for " + bytes + " bytes: "
                + RegisteredMemory.registeredBytes()
                + " bytes are registered; -Dio.rpma.netty.maxRegisteredBytes sets the limit");
        }
        return memory;
    }
}
