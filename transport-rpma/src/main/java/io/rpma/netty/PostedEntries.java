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

/**
 * The flushed entries that are under way: they stay at the head of the outbound buffer, and keep their memory, until their work
 * requests have completed, which is when their promises are told.
 */
final class PostedEntries implements ChannelOutboundBuffer.MessageProcessor {
    /** Where entries are posted to. */
    interface Target {
        /** Whether this is what completes later, rather than the stream's data. */
        boolean takes(Object message);

        /** Whether there is room for another work request. */
        boolean canPost();

        /**
         * Posts a work request. What keeps it from being posted becomes its outcome.
         *
         * @param last whether nothing follows at once
         */
        void post(Object message, boolean last);

        Outcomes outcomes();
    }

    private ChannelOutboundBuffer buffer;
    private Target target;
    private int count;
    private int skip;
    // To be posted when it is known whether something follows: the buffer's size counts what was cancelled, too.
    private Object held;

    /** How many entries are under way. */
    int count() {
        return count;
    }

    /** Posts what is flushed and fits. */
    void write(ChannelOutboundBuffer in, Target to) {
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
            // A promise's listener may have flushed more.
        } while (settle() && count < in.size());
    }

    @Override
    public boolean processMessage(Object message) {
        if (skip > 0) {
            skip--;
            return true;
        }
        post(false);
        if (!target.takes(message) || !target.canPost()) {
            return false;
        }
        held = message;
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

    /** Drops what was cancelled before it was flushed: never posted, and an empty buffer in the place of what it was. */
    private void dropCancelled() {
        while (buffer.current() == Unpooled.EMPTY_BUFFER) {
            buffer.remove();
        }
    }

    /** Tells the promises of what has ended; they may do anything, even close the channel. Returns whether there was any. */
    boolean settle() {
        boolean any = false;
        while (target != null && target.outcomes().hasNext()) {
            Throwable cause = target.outcomes().next();
            count--;
            any = true;
            dropCancelled();
            if (cause != null) {
                buffer.remove(cause);
                continue;
            }
            if (buffer.current() instanceof RpmaOperation operation) {
                operation.succeeded();
            }
            buffer.remove();
        }
        return any;
    }

    /** Fails what is under way: the queue pair is gone, and no completion comes any more. */
    void fail(Throwable cause) {
        while (count > 0) {
            count--;
            dropCancelled();
            buffer.remove(cause);
        }
    }
}
