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

package io.rpma.netty.stream;

import io.rpma.netty.memory.RpmaByteBuf;

/**
 * A message of a stream that is held back for a moment, because the application may be about to write more data that fits into
 * it: after the data has been copied, its promises succeed, and the channel may become writable.
 *
 * <p>Used by the thread that uses the queue pair.
 */
final class HeldMessage {
    // Null if no message is held back.
    private RpmaByteBuf message;
    private long together;

    boolean isEmpty() {
        return message == null;
    }

    /**
     * Holds a message back; there must be no other one.
     *
     * @param together the largest number of contiguous bytes of which the message contains the first ones
     */
    void set(RpmaByteBuf message, long together) {
        this.message = message;
        this.together = together;
    }

    /** Returns the message, which is not held back any more. */
    RpmaByteBuf take() {
        RpmaByteBuf taken = message;
        message = null;
        return taken;
    }

    /** Returns the number of contiguous bytes that was given with the last message. */
    long together() {
        return together;
    }

    /** Releases the message, if there is one. */
    void close() {
        if (message != null) {
            take().release();
        }
    }
}
