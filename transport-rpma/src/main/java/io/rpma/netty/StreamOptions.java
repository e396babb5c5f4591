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

/** The options that size a stream, checked when they are set. */
final class StreamOptions {
    static final int DEFAULT_MESSAGE_BYTES = 64 << 10;
    static final int DEFAULT_CREDITS = 16;
    static final int DEFAULT_BULK_BYTES = Integer.getInteger("area", 1 << 20);

    private volatile int messageBytes = DEFAULT_MESSAGE_BYTES;
    private volatile int credits = DEFAULT_CREDITS;

    private volatile boolean shared = true;
    private volatile int bulkBytes = DEFAULT_BULK_BYTES;

    int messageBytes() {
        return messageBytes;
    }

    void messageBytes(int bytes) {
        messageBytes = check("RPMA_RECEIVE_BUFFER_BYTES", bytes, Handshake.MIN_MESSAGE_BYTES, Handshake.MAX_MESSAGE_BYTES);
    }

    int credits() {
        return credits;
    }

    void credits(int count) {
        credits = check("RPMA_RECEIVE_BUFFERS", count, 1, Immediate.MAX_CREDITS);
    }

    boolean shared() {
        return shared;
    }

    void shared(boolean on) {
        shared = on;
    }

    int bulkBytes() {
        return bulkBytes;
    }

    void bulkBytes(int bytes) {
        bulkBytes = bytes == 0 ? 0 : check("RPMA_BULK_BYTES", bytes, 1 << Handshake.BULK_UNIT_SHIFT, Handshake.MAX_BULK_BYTES);
    }

    private static int check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("RpmaChannelOption." + option + " is " + value + "; allowed are " + min
                + " to " + max);
        }
        return value;
    }
}
