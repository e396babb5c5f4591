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

package io.rpma.netty.loop;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.rpma.WorkCompletions;

/**
 * A handle that {@code RpmaIoHandler} watches: event descriptors, and possibly a completion queue. All methods are called on
 * the event loop. None may throw; a failure is turned into a state of the handle.
 */
public interface RpmaIoHandle extends IoHandle {
    /**
     * Returns the descriptors of connection events or requests that are to be watched. It is called when the registration is
     * opened, and again after {@link RpmaIoOps#WATCH}.
     *
     * @param ready may be run instead when there are events, by any thread and under locks; it does not block
     */
    int[] eventFds(Runnable ready);

    /** Returns whether there are descriptors of events; the result never changes. */
    default boolean hasEvents() {
        return true;
    }

    /** Called when an event descriptor has become readable, or the task has been run; the implementation must drain it. */
    void eventsReady();

    /** Returns the completion queue to be polled, or {@code null}; called once, when the registration is opened. */
    io.rpma.CompletionQueue completionQueue();

    /**
     * Polls the completion queue and handles the completions.
     *
     * @param batch the batch to fill, at most once in each call
     * @return the number of completions that were handled
     */
    int poll(WorkCompletions batch);

    /**
     * Returns whether a completion is expected. While none is, an empty queue is neither polled nor armed; code that posts work
     * must submit {@link RpmaIoOps#HOT}.
     */
    default boolean awaitsCompletions() {
        return true;
    }

    /**
     * Called when the completion queue can no longer be armed, or when a method has thrown although it must not;
     * {@link #destroy()} follows.
     */
    default void failed(Throwable e) {
        close();
    }

    /** Called when the event loop begins to shut down, and again in its further turns. Does not wait. */
    @Override
    void close();

    /**
     * Continues a close that waits for a delivery, without waiting. The loop has called {@link #close()} of all its handles, and
     * calls this method of all of them repeatedly for a limited time.
     *
     * @param late whether the time is over, so that the close has to end now
     * @return whether the handle waits for no delivery
     */
    default boolean completeClose(boolean late) {
        return true;
    }

    /**
     * Continues the work that has to be done before {@link #destroy()}, without waiting. The loop has nothing else to do any
     * more, and calls this method of all its handles repeatedly for a limited time.
     *
     * @return whether no work is left
     */
    default boolean finish() {
        return true;
    }

    /** Called when the event loop ends and there is no time left for an orderly close. Does not wait. */
    void destroy();

    @Override
    default void handle(IoRegistration registration, IoEvent event) {
        throw new UnsupportedOperationException("the handler calls eventsReady() and poll() directly");
    }
}
