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

import java.util.Set;

/**
 * A memory region of the other side, opened from its descriptor ({@code struct rpma_mr_remote}). It is only a description: the
 * first work request that uses it shows whether the region exists. Thread-safe, except {@link #close()}.
 */
public interface RemoteMemoryRegion extends AutoCloseable {
    /** Returns the size in bytes ({@code rpma_mr_remote_get_size}). */
    long size();

    /** Returns the kinds of flush that the region allows ({@code rpma_mr_remote_get_flush_type}). */
    Set<MemoryUsage> flushUsages();

    /**
     * Frees the description of the region ({@code rpma_mr_remote_delete}). Closing again does nothing.
     *
     * @throws RpmaException never, if the region was opened by {@link RpmaProvider#openRemoteRegion}
     */
    @Override
    void close() throws RpmaException;
}
