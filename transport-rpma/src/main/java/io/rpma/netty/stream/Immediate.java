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

/**
 * The 32 bits that accompany every message of the stream protocol, as immediate data or in front of the payload
 * ({@link StreamWire}): four bits are the kind of message, twelve are returned credits, and sixteen are an argument. See
 * {@code docs/protocol.md}.
 */
public final class Immediate {
    /** The message is a piece of the stream. It takes one credit. */
    public static final int DATA = 1;
    /** The message is empty and only returns credits. */
    public static final int CREDIT = 2;
    /** The message is empty; it ends the sender's stream. */
    public static final int FIN = 3;
    /** The message is the number and descriptor of an area that the receiver may write large data into. It takes one credit. */
    public static final int GRANT = 4;
    /** The next piece of the stream has been written into the oldest area granted. It takes one credit. */
    public static final int BULK = 5;
    /** The message is empty; the sender returns as many of the oldest areas as the argument says. It takes one credit. */
    public static final int RETURN = 6;
    /** The message is empty; it confirms the end of the receiver's stream. Used only if {@link StreamWire#confirmsEnd}. */
    public static final int SEEN = 7;

    /** The most credits that one message can return. */
    public static final int MAX_CREDITS = 0xfff;

    private Immediate() {
    }

    public static int of(int kind, int credits) {
        return of(kind, credits, 0);
    }

    public static int of(int kind, int credits, int argument) {
        return kind << 28 | credits << 16 | argument;
    }

    /** Returns whether a message of this kind takes a credit. */
    public static boolean takesCredit(int kind) {
        return kind != CREDIT && kind != FIN && kind != SEEN;
    }

    public static int kind(int immediate) {
        return immediate >>> 28;
    }

    public static int credits(int immediate) {
        return immediate >>> 16 & MAX_CREDITS;
    }

    public static int argument(int immediate) {
        return immediate & 0xffff;
    }
}
