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

/**
 * The registered memory in use, without the free buffers that all threads share. The number of these buffers depends on chance.
 */
public final class MemoryInUse {
    private MemoryInUse() {
    }

    /** Returns the number of bytes in use, after the shared free buffers have been returned to the arena. */
    public static long bytes() {
        RegisteredMemory.shared().flush();
        return RegisteredMemory.usedBytes();
    }
}
