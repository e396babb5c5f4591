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

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.rpma.netty.pair.PostTarget;
import io.rpma.netty.pair.SentEntries;

/**
 * The flushed entries that are under way. They stay at the head of the outbound buffer, which keeps their memory, until their
 * work requests have completed; their promises are notified then.
 */
final class PostedEntries implements ChannelOutboundBuffer.MessageProcessor {
    private ChannelOutboundBuffer buffer;
    private PostTarget target;
    private int count;
    private int skip;
    // Posted when it is known whether another message follows. The size of the buffer is no indication, because it includes
    // cancelled messages.
    private Object held;

    /** Returns the number of entries under way. */
    int count() {
        return count;
    }

    /** Posts the flushed entries for which there is room. */
    void write(ChannelOutboundBuffer in, PostTarget to) {
        buffer = in;
        target = to;
        do {
            skip = count;
            held = null;
            try {
                in.forEachFlushedMessage(this);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            post(true);
            // A promise's listener may have flushed more messages.
        } while (settle() && count < in.size());
    }

    @Override
    public boolean processMessage(Object message) {
        if (skip > 0) {
            skip--;
            return true;
        }
        post(false);
        Object work = message instanceof RpmaOperation operation ? operation.work() : message;
        if (!target.takes(work) || !target.canPost()) {
            return false;
        }
        held = work;
        return true;
    }

    private void post(boolean last) {
        Object message = held;
        if (message != null) {
            held = null;
            count++;
            target.post(message, last);
        }
    }

    /**
     * Removes entries that were cancelled before they were flushed. They were never posted, and an empty buffer replaces their
     * message.
     */
    private void dropCancelled() {
        while (buffer.current() == Unpooled.EMPTY_BUFFER) {
            buffer.remove();
        }
    }

    /**
     * Notifies the promises of the entries that have ended. Their listeners may close the channel. Returns whether there were
     * any.
     */
    boolean settle() {
        boolean any = false;
        while (target != null && target.outcomes().hasNext()) {
            Throwable cause = target.outcomes().next();
            count--;
            any = true;
            dropCancelled();
            if (cause == null) {
                cause = finish(buffer.current());
            }
            if (cause != null) {
                buffer.remove(cause);
                continue;
            }
            SentEntries.remove(buffer);
        }
        return any;
    }

    /**
     * Finishes an entry whose work request has succeeded. Returns why it fails nevertheless, or {@code null}: the application has
     * released or shortened the buffer of a read, or the buffer is of a class of the application and throws an error.
     */
    private static Throwable finish(Object message) {
        if (message instanceof RpmaOperation operation) {
            try {
                operation.succeeded();
            } catch (Throwable e) {
                return e;
            }
        }
        return null;
    }

    /** Fails all entries under way, because the queue pair is gone and no more completions will arrive. */
    void fail(Throwable cause) {
        while (count > 0) {
            count--;
            dropCancelled();
            buffer.remove(cause);
        }
    }

    /** Fails all entries of the buffer, also those that have not been posted or flushed. */
    void failAll(Throwable cause) {
        fail(cause);
        buffer.addFlush();
        while (buffer.remove(cause)) {
            continue;
        }
    }
}
