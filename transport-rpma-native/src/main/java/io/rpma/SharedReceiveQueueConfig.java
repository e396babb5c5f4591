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

/** Sizes of a shared receive queue ({@code struct rpma_srq_cfg}). Thread-safe, except {@link #close()}. */
public interface SharedReceiveQueueConfig extends AutoCloseable {
    /** Returns the slots of the queue ({@code rpma_srq_cfg_get_rq_size}); default 20. */
    int receiveQueueSize() throws RpmaException;

    /** Sets the slots of the queue ({@code rpma_srq_cfg_set_rq_size}). */
    SharedReceiveQueueConfig receiveQueueSize(int size) throws RpmaException;

    /** Returns the entries of its completion queue ({@code rpma_srq_cfg_get_rcq_size}); default 20. */
    int receiveCompletionQueueSize() throws RpmaException;

    /**
     * Sets the entries of its completion queue ({@code rpma_srq_cfg_set_rcq_size}). With 0 there is none: a receive then
     * completes in the completion queue of the connection whose message took it.
     */
    SharedReceiveQueueConfig receiveCompletionQueueSize(int size) throws RpmaException;

    /** Frees the configuration ({@code rpma_srq_cfg_delete}). Closing again does nothing. */
    @Override
    void close() throws RpmaException;
}
