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

/** How deep a flush reaches ({@code enum rpma_flush_type}). */
public enum FlushType {
    /**
     * {@code RPMA_FLUSH_TYPE_PERSISTENT}: down to the persistence domain. The region must have been registered for
     * {@link MemoryUsage#FLUSH_PERSISTENT} and the peer's configuration must allow direct writes to persistent memory. On the
     * software provider it fails for memory of another process that does not come from {@link RpmaProvider#reserve}, because only
     * that process could write it to storage.
     */
    PERSISTENT(0),
    /** {@code RPMA_FLUSH_TYPE_VISIBILITY}: deep enough that the peer's processors see the data. */
    VISIBILITY(1);

    private final int code;

    FlushType(int code) {
        this.code = code;
    }

    /** Returns the value of the C enumeration. */
    public int code() {
        return code;
    }
}
