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

/** Receive buffers shared by connections of one peer ({@code struct rpma_srq}). Thread-safe, except {@link #close()}. */
public interface SharedReceiveQueue extends AutoCloseable {
    /**
     * Posts a receive ({@code rpma_srq_recv}). Posted receives are unordered: any of them may take the next message.
     *
     * @param target the region, registered for {@link MemoryUsage#RECV}; {@code null} with offset and length 0 for empty
     *     messages
     * @param offset from the start of the region, in bytes
     * @param length in bytes
     * @param context comes back as {@link WorkCompletions#context}
     * @throws RpmaException {@link RpmaError#PROVIDER} if the queue is full; {@link RpmaError#INVALID} if an argument is not
     *     valid
     */
    void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException;

    /**
     * Returns the completion queue of the receives, or {@code null} if it was created without one
     * ({@code rpma_srq_get_rcq}).
     */
    CompletionQueue receiveCompletionQueue();

    /**
     * Returns whether no receive is lost when a connection ends in the middle of a message. If so, a receive that the connection
     * has taken and not completed is reported by the receive completion queue, or is posted again automatically if there is no
     * such queue. A device may lose it without a report; the application then has to post another one. (librpma has no function
     * for this.)
     */
    default boolean returnsUnfinishedReceives() {
        return false;
    }

    /**
     * Destroys the queue ({@code rpma_srq_delete}). {@link #isQuiescent} returns whether the memory of its receives can be
     * reused. Closing again does nothing.
     *
     * @throws RpmaException {@link RpmaError#PROVIDER} while a connection uses it
     */
    @Override
    void close() throws RpmaException;

    /**
     * Returns whether the queue is closed and no peer can write to the memory of its receives any more. With librpma that is the
     * case as soon as the queue is closed; with the software provider, when all its connections are quiescent
     * ({@link Connection#isQuiescent}). Any thread may call it.
     */
    boolean isQuiescent();
}
