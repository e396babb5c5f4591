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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * A connection: a reliable queue pair, its completion queues and its events ({@code struct rpma_conn}). Used by one thread at a
 * time, which may change.
 *
 * <p>The posting methods take offsets and lengths in bytes and never block. librpma does not check them against the region: a
 * work request that reaches outside the local region completes with {@link CompletionStatus#LOC_PROT_ERR}, one that reaches
 * outside the remote region with {@link CompletionStatus#REM_ACCESS_ERR}, and the queue pair enters the error state. The methods
 * throw {@link RpmaException} with {@link RpmaError#INVALID} for a flag of {@code null} or another argument that is not valid,
 * and with {@link RpmaError#PROVIDER} if the send queue is full or the connection is not established. The caller has to count
 * the slots of the send queue, because the exception does not distinguish these two cases.
 */
public interface Connection extends AutoCloseable {
    /** The alignment of {@link #atomicWrite}, and the size of what it writes, in bytes. */
    int ATOMIC_WRITE_ALIGNMENT = 8;

    /** What {@link #eventFd(Runnable)} returns if no descriptor has to be watched. It is not the number of a closed one. */
    int NO_DESCRIPTOR = Integer.MIN_VALUE;

    /**
     * Returns the descriptor to wait on for connection events, non-blocking ({@code rpma_conn_get_event_fd}). It is always the
     * same. The provider tcp creates it at the first call.
     *
     * @throws IllegalStateException if it cannot be created, because this process has too few descriptors left
     */
    int eventFd();

    /**
     * Has a task run when there are connection events, so that an event loop need not watch a descriptor. The task runs at once
     * if there are events, and then whenever there are events again after {@link #nextEvent()} has returned {@code null}. Any
     * thread may run it, and may hold locks of the provider meanwhile. So the task must not block, throw, or use this connection:
     * it has another thread do so. It replaces the task of an earlier call.
     *
     * <p>With the provider tcp, most connections need no descriptor for their events then. The other providers never run the
     * task.
     *
     * @return the descriptor to watch in addition until {@link #nextEvent()} has returned an event, after which this method has
     *     to be called again; {@link #NO_DESCRIPTOR} if there is none
     * @throws IllegalStateException as {@link #eventFd()}
     */
    default int eventFd(Runnable task) {
        return eventFd();
    }

    /**
     * Takes the next connection event ({@code rpma_conn_next_event}). For an outgoing connection this call is also what
     * completes the handshake: until it has returned {@link ConnectionEvent#ESTABLISHED}, the other side waits.
     *
     * @return the event, or {@code null} if there is none
     * @throws RpmaException {@link RpmaError#UNKNOWN} for an event of no known kind; {@link RpmaError#PROVIDER} if the
     *     descriptor fails
     */
    ConnectionEvent nextEvent() throws RpmaException;

    /**
     * Waits for the next connection event: {@code rpma_conn_next_event} as it is on a blocking descriptor. Not for event loops. A
     * virtual thread that waits does not pin its carrier.
     *
     * @param timeout how long at most; 0 does not wait
     * @return the event, or {@code null} if none came in time
     * @throws RpmaException as {@link #nextEvent()}; {@link RpmaError#INVALID} if the connection is closed meanwhile
     * @throws InterruptedException if the thread was interrupted before or while it waited; no event is lost by that
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for the events of this connection
     */
    default ConnectionEvent waitForEvent(Duration timeout) throws RpmaException, InterruptedException {
        return EventWait.forIt(eventFd(), timeout, this::nextEvent);
    }

    /**
     * Returns why a requested connection has ended before it was established, if the provider knows more than the event {@link
     * ConnectionEvent#REJECTED} or {@link ConnectionEvent#UNREACHABLE} says. If the request was
     * prepared by {@link Peer#tryNewConnectionRequest}, which does not wait for the address to answer, this is the exception that
     * {@link Peer#newConnectionRequest} would have thrown.
     *
     * @return the reason, for as long as the object exists; {@code null} if there is none, or not yet
     */
    default RpmaException failure() {
        return null;
    }

    /**
     * Returns the private data that the other side connected or accepted with ({@code rpma_conn_get_private_data}): on the
     * accepting side always 56 bytes, on the connecting side always 196 once established, padded with zeros (iWARP devices
     * give the exact length); empty before. A read-only copy.
     */
    ByteBuffer privateData() throws RpmaException;

    /** Returns the number that identifies this connection in completions ({@code rpma_conn_get_qp_num}). */
    int queuePairNumber();

    /** Returns the address of this side; {@code null} if the provider cannot tell. */
    InetSocketAddress localAddress();

    /** Returns the address of the other side; {@code null} if the provider cannot tell. */
    InetSocketAddress remoteAddress();

    /** Returns the completion queue ({@code rpma_conn_get_cq}). */
    CompletionQueue completionQueue();

    /**
     * Returns the completion queue of the receives, or {@code null} if they complete in {@link #completionQueue()}
     * ({@code rpma_conn_get_rcq}).
     */
    CompletionQueue receiveCompletionQueue();

    /**
     * Returns the descriptor that both completion queues share ({@code rpma_conn_get_compl_fd}).
     *
     * @throws RpmaException {@link RpmaError#NOT_SHARED_CHANNEL} if each has its own
     */
    int completionFd() throws RpmaException;

    /**
     * Consumes one event of the shared descriptor and arms the queue that it came from again ({@code rpma_conn_wait}). The caller
     * repeats the call until it returns {@code null}.
     *
     * @return the queue that has completions, or {@code null} if there was no event
     * @throws RpmaException {@link RpmaError#NOT_SHARED_CHANNEL} if each queue has its own descriptor
     */
    CompletionQueue consumeCompletionEvent() throws RpmaException;

    /**
     * Waits for an event of the shared descriptor: {@code rpma_conn_wait} as it is on a blocking descriptor. Not for event loops.
     * Poll a queue until it is empty before waiting for its next event. A virtual thread that waits does not pin its carrier.
     *
     * @param timeout how long at most; 0 does not wait
     * @return the queue that has completions, or {@code null} if there was no event in time
     * @throws RpmaException as {@link #consumeCompletionEvent()}
     * @throws InterruptedException if the thread was interrupted before or while it waited
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for it
     */
    default CompletionQueue waitForCompletionEvent(Duration timeout) throws RpmaException, InterruptedException {
        return EventWait.forIt(completionFd(), timeout, this::consumeCompletionEvent);
    }

    /**
     * Applies the peer configuration of the other side ({@code rpma_conn_apply_remote_peer_cfg}).
     *
     * @param config as opened by {@link RpmaProvider#peerConfigFromDescriptor}
     */
    void applyRemotePeerConfig(PeerConfig config) throws RpmaException;

    /**
     * Reads from the other side's memory ({@code rpma_read}).
     *
     * @param target registered for {@link MemoryUsage#READ_DST}
     * @param source registered by the other side for {@link MemoryUsage#READ_SRC}. If the length is 0, both regions may be
     *     {@code null}
     */
    void read(LocalMemoryRegion target, long targetOffset, RemoteMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException;

    /**
     * Writes to the other side's memory ({@code rpma_write}).
     *
     * @param target registered by the other side for {@link MemoryUsage#WRITE_DST}. If the length is 0, both regions may be
     *     {@code null}
     * @param source registered for {@link MemoryUsage#WRITE_SRC}
     */
    void write(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException;

    /** Writes, and completes one posted receive of the other side to notify it ({@code rpma_write_with_imm}). */
    void writeWithImmediate(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, int immediate, long context) throws RpmaException;

    /**
     * Writes eight bytes at once ({@code rpma_atomic_write}): a reader sees all or none of them, and only after everything
     * that was written before.
     *
     * @param target registered by the other side for {@link MemoryUsage#WRITE_DST}
     * @param targetOffset a multiple of {@link #ATOMIC_WRITE_ALIGNMENT}
     * @param value the eight bytes, as a {@code long} in native byte order
     */
    void atomicWrite(RemoteMemoryRegion target, long targetOffset, long value, CompletionFlag flag, long context)
            throws RpmaException;

    /**
     * Makes earlier writes visible or persistent ({@code rpma_flush}). They are visible or persistent when the flush has
     * completed.
     *
     * @throws RpmaException {@link RpmaError#NOT_SUPPORTED} if the region does not allow this kind of flush, or the other
     *     side's configuration does not allow a persistent one
     */
    void flush(RemoteMemoryRegion target, long targetOffset, long length, FlushType type, CompletionFlag flag,
            long context) throws RpmaException;

    /**
     * Permits the messages that are sent from now on, and the writes with immediate data, to complete as soon as the provider
     * does not need their memory any more, although the other side may not have received them yet. They complete in the order in
     * which they were posted, after all earlier work requests. A message that has completed in this way is not sent again: if the
     * other side has no posted receive for it, everything that follows on this connection waits until there is one; with the
     * provider tcp, the connection is lost if too much data waits for 60 s. So use this only with credits, which guarantee a
     * receive. The completion of a work request that is posted when this is off shows that all earlier ones have been executed.
     *
     * <p>Called by the thread that posts work requests. At first it is off. A provider that gains nothing by it ignores it; the
     * provider tcp makes use of it if the other side supports it.
     *
     * @param isOn whether messages may complete early
     */
    default void completeSendsEarly(boolean isOn) {
        // A provider whose device copies messages into the memory of the other side has nothing to release earlier.
    }

    /**
     * Sends a message ({@code rpma_send}), which takes one posted receive of the other side. If none is posted there, the message
     * waits, on real devices in steps of 655 milliseconds. Use credits to avoid that.
     *
     * @param source registered for {@link MemoryUsage#SEND}; {@code null} with offset and length 0 for an empty message
     */
    void send(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, long context) throws RpmaException;

    /** Sends a message with immediate data ({@code rpma_send_with_imm}). */
    void sendWithImmediate(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, int immediate,
            long context) throws RpmaException;

    /**
     * Posts a receive ({@code rpma_recv}). Posted receives are unordered: any of them may take the next message. The context of
     * the completion identifies it.
     *
     * @param target registered for {@link MemoryUsage#RECV}; {@code null} with offset and length 0 for empty messages
     * @throws RpmaException {@link RpmaError#PROVIDER} also if the connection takes its receives from a shared queue
     */
    void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException;

    /**
     * Starts to disconnect ({@code rpma_conn_disconnect}). Work requests that have not been executed and posted receives are
     * flushed. {@link ConnectionEvent#CLOSED} follows when the other side has disconnected or closed as well, which may never
     * happen. Calling this method again, or after the event, does nothing.
     */
    void disconnect() throws RpmaException;

    /**
     * Starts to disconnect, like {@link #disconnect}, for a caller whose next operation on the connection other than polling its
     * completion queues is {@link #close}. A provider may leave it to {@code close} to notify the other side, which saves a
     * message.
     */
    default void disconnectBeforeClose() throws RpmaException {
        disconnect();
    }

    /**
     * Destroys the connection and everything that belongs to it ({@code rpma_conn_delete}); the other side is notified. The
     * descriptors are closed: remove them from any epoll set first. Requests that are still posted are not reported any more.
     * This method never waits for the other side: {@link #isQuiescent} returns whether the memory of the receives can be reused.
     * Closing again does nothing.
     */
    @Override
    void close() throws RpmaException;

    /**
     * Returns whether the connection is closed and the other side can no longer write to the memory of the receives that were
     * posted for it. With librpma that is the case as soon as the connection is closed. The software provider has no device that
     * it could stop: if the other side's process was executing an operation when the connection was closed, that operation
     * continues until it is complete or the process ends; if the process has been stopped ({@code SIGSTOP}), that may take any
     * time. Any thread may call it.
     */
    boolean isQuiescent();
}
