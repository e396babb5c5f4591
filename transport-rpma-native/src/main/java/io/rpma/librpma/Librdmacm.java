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

import io.rpma.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The function of librdmacm, below librpma, that keeps devices open. */
final class Librdmacm {
    private static final String NAME = "librdmacm.so.1";

    private static final MethodHandle GET_DEVICES = LibrpmaLibrary.bind(SymbolLookup.libraryLookup(NAME, Arena.global()), NAME,
        "rdma_get_devices", FunctionDescriptor.of(ADDRESS, ADDRESS));

    private Librdmacm() {
    }

    /**
     * Keeps a device open for the life of the process. Without this, the library closes a device that was removed from the
     * machine and frees its context as soon as it notices the removal, unless an identifier is bound to the device. A peer does
     * not count.
     *
     * @param context the device's {@code struct ibv_context}, as the library has returned it
     * @return whether the device still exists
     */
    static boolean keepOpen(long context) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            // The list refers to all devices of the machine. It is not freed, because that would end its references.
            MemorySegment list = (MemorySegment) GET_DEVICES.invokeExact(count);
            int devices = list.address() == 0 ? 0 : count.get(JAVA_INT, 0);
            MemorySegment contexts = list.reinterpret(devices * JAVA_LONG.byteSize());
            for (int i = 0; i < devices; i++) {
                if (contexts.getAtIndex(JAVA_LONG, i) == context) {
                    return true;
                }
            }
            return false;
        } catch (Throwable e) {
            throw Posix.unexpected(e);
        }
    }
}
