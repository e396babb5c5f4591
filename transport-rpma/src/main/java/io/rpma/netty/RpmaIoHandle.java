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

package io.rpma.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.rpma.WorkCompletions;

/**
 * Something that {@link RpmaIoHandler} watches: an event descriptor, and perhaps a completion queue. All methods are called on
 * the loop. None may throw: what goes wrong is turned into a state of the handle.
 */
interface RpmaIoHandle extends IoHandle {
    /** The descriptors of connection events or requests; asked for once, before they are watched. */
    int[] eventFds();

    /** Whether there are descriptors of events; always the same. */
    default boolean hasEvents() {
        return true;
    }

    /** Tells that an event descriptor became readable; to be drained. */
    void eventsReady();

    /** The completion queue to be polled, or {@code null}; asked for once, when the registration is opened. */
    io.rpma.CompletionQueue completionQueue();

    /**
     * Polls the completion queue and handles what came.
     *
     * @param batch to be filled, at most once in each call
     * @return how many completions were handled
     */
    int poll(WorkCompletions batch);

    /**
     * Whether a completion is to be expected. While none is, a queue that is empty is neither polled nor armed: whoever posts
     * work submits {@link RpmaIoOps#HOT}.
     */
    default boolean awaitsCompletions() {
        return true;
    }

    /**
     * Tells that the completion queue cannot be armed any more, or that a method has thrown what it must not; {@link #destroy()}
     * follows.
     */
    default void failed(Throwable e) {
        close();
    }

    /** The loop begins to shut down. */
    @Override
    void close();

    /**
     * Goes on with what has to be done before {@link #destroy()}, without waiting. The loop has nothing else to do any more, and
     * asks all its handles again and again for a while.
     *
     * @return whether nothing is left to be done
     */
    default boolean finish() {
        return true;
    }

    /** The loop ends now, without the time for an orderly close. Does not wait. */
    void destroy();

    @Override
    default void handle(IoRegistration registration, IoEvent event) {
        throw new UnsupportedOperationException("the handler calls eventsReady() and poll() directly");
    }
}
