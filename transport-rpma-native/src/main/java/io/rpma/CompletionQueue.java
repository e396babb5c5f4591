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

import java.time.Duration;

/**
 * A completion queue ({@code struct rpma_cq}). It belongs to a connection or a shared receive queue and has the same lifetime.
 *
 * <p>The descriptor becomes readable when the queue is <i>armed</i> and a completion arrives; that disarms it. A new queue is
 * armed. To lose no wake-up, call {@link #consumeEvent()}, which always leaves the queue armed, then {@link #poll} until it
 * returns 0, and only then wait for the descriptor. A caller that stops polling earlier gets no event for the completions that
 * are left. Polling without consuming is allowed and leaves a stale event: the descriptor is then readable although the queue is
 * empty.
 *
 * <p>One thread at a time polls a queue.
 */
public interface CompletionQueue {
    /**
     * Returns the descriptor to wait on, non-blocking, owned by the queue ({@code rpma_cq_get_fd}). It is always the same. The
     * software providers create it at the first call if receives complete in the completion queue of a shared receive queue, and
     * tcp does so for every queue.
     *
     * @throws IllegalStateException if it cannot be created, because this process has too few descriptors left
     */
    int fd();

    /**
     * Has a task run when the queue is armed and a completion arrives, which disarms it, so that an event loop need not watch a
     * descriptor. The task runs at once if that has happened already. Any thread may run it, and may hold locks of the provider
     * meanwhile. So the task must not block, throw, or use this queue: it has another thread do so. It replaces the task of an
     * earlier call.
     *
     * <p>The provider tcp does this for the queue of a connection with a shared receive queue. The other providers never run the
     * task.
     *
     * @return the descriptor to watch, if the task is not run; otherwise {@link Connection#NO_DESCRIPTOR}
     * @throws IllegalStateException as {@link #fd()}
     */
    default int fd(Runnable task) {
        return fd();
    }

    /**
     * Consumes the event, if there is one, and leaves the queue armed ({@code rpma_cq_wait} on a non-blocking descriptor). With
     * the provider tcp there may be none although the descriptor is readable; the caller then waits for it again.
     *
     * @return whether there was an event
     * @throws RpmaException {@link RpmaError#SHARED_CHANNEL} if the descriptor is shared: use
     *     {@link Connection#consumeCompletionEvent()}; {@link RpmaError#PROVIDER} if the device refuses
     */
    boolean consumeEvent() throws RpmaException;

    /**
     * Waits for an event, as {@code rpma_cq_wait} does on a blocking descriptor. A caller that has not polled until the queue was
     * empty gets no event for the completions that are left; {@link #poll(WorkCompletions, Duration)} takes them first. Not for
     * event loops. A virtual thread that waits does not pin its carrier.
     *
     * @param timeout how long at most; 0 does not wait
     * @return whether there was an event in time; the queue may nevertheless be empty
     * @throws RpmaException as {@link #consumeEvent()}; {@link RpmaError#INVALID} if the queue is closed meanwhile
     * @throws InterruptedException if the thread was interrupted before or while it waited
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for the same descriptor
     */
    default boolean waitForCompletions(Duration timeout) throws RpmaException, InterruptedException {
        return EventWait.forIt(fd(), timeout, () -> consumeEvent() ? this : null) != null;
    }

    /**
     * Takes completions out of the queue, and waits for the first if there is none: {@code rpma_cq_wait} and
     * {@code rpma_cq_get_wc}, in the order that loses no completion. Not for event loops. A virtual thread that waits does not
     * pin its carrier.
     *
     * @param completions receives up to its capacity
     * @param timeout how long to wait at most; 0 does not wait
     * @return the number taken, 0 if none came in time
     * @throws RpmaException as {@link #poll(WorkCompletions)} and {@link #consumeEvent()}
     * @throws InterruptedException if the thread was interrupted before or while it waited; no completion is lost by that
     * @throws IllegalArgumentException if the timeout is negative
     * @throws IllegalStateException if another thread waits for the same descriptor
     */
    default int poll(WorkCompletions completions, Duration timeout) throws RpmaException, InterruptedException {
        Integer taken = EventWait.forIt(fd(), timeout, () -> {
            int count = poll(completions);
            if (count == 0 && consumeEvent()) {
                // The queue is armed again. Poll once more: a completion that arrived before it was armed signals no event.
                count = poll(completions);
            }
            return count == 0 ? null : count;
        });
        return taken == null ? 0 : taken;
    }

    /**
     * Takes completions out of the queue ({@code rpma_cq_get_wc}).
     *
     * @param completions receives up to its capacity
     * @return the number taken, 0 if the queue is empty
     * @throws RpmaException {@link RpmaError#PROVIDER} if the device refuses; the software provider throws it also when the
     *     queue has overflowed, which a real device does not report
     */
    int poll(WorkCompletions completions) throws RpmaException;

    /**
     * Takes completions out of the queue like {@link #poll(WorkCompletions)}, for a caller that always calls {@link
     * #consumeEvent()} and then polls once more before it waits for the descriptor. Completions that this call takes need not
     * cause an event; those that do not fit into the batch do. If this is the completion queue of a shared receive queue, the
     * completions of work requests that this call adds to the queues of its connections need not cause an event before the next
     * call of this method or of {@code consumeEvent()}. One thread at a time calls the two methods.
     *
     * <p>With the provider tcp this saves two system calls for each time that the caller is woken, because a thread that polls
     * adds the completions itself. With the other providers it is the same as {@code poll}.
     *
     * @param completions receives up to its capacity
     * @return the number taken, 0 if the queue is empty
     * @throws RpmaException as {@link #poll(WorkCompletions)}
     */
    default int pollWithoutEvent(WorkCompletions completions) throws RpmaException {
        return poll(completions);
    }

    /**
     * Returns whether a poll that finds nothing makes system calls. With the provider tcp it does, because it looks for data in
     * the sockets of its connections. With the other providers it only reads memory.
     */
    default boolean pollsBySystemCalls() {
        return false;
    }
}
