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

/**
 * Sizes and queues of a connection ({@code struct rpma_conn_cfg}). Thread-safe, except {@link #close()}.
 *
 * <p>On real devices a completion queue that overflows loses completions without an error. The completion queue needs at least as
 * many entries as the send and the receive queue together, or as the send queue alone if receives have a completion queue of
 * their own.
 */
public interface ConnectionConfig extends AutoCloseable {
    /** Returns the time that resolving may take, in milliseconds ({@code rpma_conn_cfg_get_timeout}); default 1000. */
    int timeoutMillis() throws RpmaException;

    /**
     * Sets the time that resolving an address, and then a route, may take ({@code rpma_conn_cfg_set_timeout}). With the provider
     * tcp it is the time that the TCP connection, and then the greeting of the listener, may take; for the greeting at least 2 s
     * and at most 10 s are allowed. The handshake itself is not bounded by it.
     *
     * @param millis at least 0
     * @return this object
     * @throws RpmaException {@link RpmaError#INVALID} if negative
     */
    ConnectionConfig timeoutMillis(int millis) throws RpmaException;

    /** Returns the entries of the completion queue ({@code rpma_conn_cfg_get_cq_size}); default 10. */
    int completionQueueSize() throws RpmaException;

    /** Sets the entries of the completion queue ({@code rpma_conn_cfg_set_cq_size}). */
    ConnectionConfig completionQueueSize(int size) throws RpmaException;

    /**
     * Returns the entries of the receive completion queue ({@code rpma_conn_cfg_get_rcq_size}); default 0: receives
     * complete in the one completion queue.
     */
    int receiveCompletionQueueSize() throws RpmaException;

    /** Sets the entries of the receive completion queue, 0 for none ({@code rpma_conn_cfg_set_rcq_size}). */
    ConnectionConfig receiveCompletionQueueSize(int size) throws RpmaException;

    /** Returns the slots of the send queue ({@code rpma_conn_cfg_get_sq_size}); default 10. */
    int sendQueueSize() throws RpmaException;

    /** Sets the slots of the send queue ({@code rpma_conn_cfg_set_sq_size}). */
    ConnectionConfig sendQueueSize(int size) throws RpmaException;

    /** Returns the slots of the receive queue ({@code rpma_conn_cfg_get_rq_size}); default 10. */
    int receiveQueueSize() throws RpmaException;

    /**
     * Sets the slots of the receive queue ({@code rpma_conn_cfg_set_rq_size}). Devices ignore it if there is a shared receive
     * queue. The provider soft then takes it for the number of messages that can have arrived on the connection and not been
     * polled, and rounds it to between 64 and 256; a further message waits at its sender until one has been polled.
     */
    ConnectionConfig receiveQueueSize(int size) throws RpmaException;

    /** Returns whether both completion queues share one descriptor ({@code rpma_conn_cfg_get_compl_channel}). */
    boolean isSharedCompletionChannel() throws RpmaException;

    /**
     * Sets whether both completion queues share one descriptor ({@code rpma_conn_cfg_set_compl_channel}); then
     * {@link Connection#consumeCompletionEvent()} is to be used in place of {@link CompletionQueue#consumeEvent()}.
     *
     * <p>A connection whose shared receive queue has a completion queue of its own
     * ({@link SharedReceiveQueueConfig#receiveCompletionQueueSize(int)}) cannot share the descriptor: its request fails with
     * {@link RpmaError#INVALID}.
     */
    ConnectionConfig sharedCompletionChannel(boolean shared) throws RpmaException;

    /** Returns the shared receive queue, or {@code null} ({@code rpma_conn_cfg_get_srq}). */
    SharedReceiveQueue sharedReceiveQueue() throws RpmaException;

    /**
     * Lets the connection take its receives from a shared queue ({@code rpma_conn_cfg_set_srq}). This cannot be undone.
     *
     * @param queue a queue of the same peer
     * @return this object
     * @throws RpmaException {@link RpmaError#INVALID} if {@code null}
     */
    ConnectionConfig sharedReceiveQueue(SharedReceiveQueue queue) throws RpmaException;

    /** Frees the configuration ({@code rpma_conn_cfg_delete}). Closing again does nothing. */
    @Override
    void close() throws RpmaException;
}
