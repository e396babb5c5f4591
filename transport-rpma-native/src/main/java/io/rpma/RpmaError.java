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

/**
 * The ten error codes of librpma ({@code RPMA_E_*}).
 *
 * <p>Three of them are never thrown, because they only mean that nothing is available: {@link #NO_COMPLETION} becomes a zero or
 * {@code false}, {@link #NO_EVENT} becomes {@code null}, and so does the {@link #PROVIDER} with {@code EAGAIN} that librpma
 * returns for an empty non-blocking event descriptor.
 */
public enum RpmaError {
    /** {@code RPMA_E_UNKNOWN}: an unknown error. */
    UNKNOWN(-100000),
    /** {@code RPMA_E_NOSUPP}: the operation is not supported by the device, the region or the peer. */
    NOT_SUPPORTED(-100001),
    /** {@code RPMA_E_PROVIDER}: the verbs library or the kernel failed; {@link RpmaException#errno()} may be the cause. */
    PROVIDER(-100002),
    /** {@code RPMA_E_NOMEM}: out of memory. */
    NO_MEMORY(-100003),
    /** {@code RPMA_E_INVAL}: an argument, or the state of the handle it was used on, is not valid. */
    INVALID(-100004),
    /** {@code RPMA_E_NO_COMPLETION}: the completion queue is empty. */
    NO_COMPLETION(-100005),
    /** {@code RPMA_E_NO_EVENT}: no connection event is queued. */
    NO_EVENT(-100006),
    /** {@code RPMA_E_AGAIN}: a temporary failure; the call may be repeated. */
    AGAIN(-100007),
    /** {@code RPMA_E_SHARED_CHANNEL}: the completion channel is shared: wait on the connection, not on the queue. */
    SHARED_CHANNEL(-100008),
    /** {@code RPMA_E_NOT_SHARED_CHNL}: the completion channel is not shared: wait on the queue, not on the connection. */
    NOT_SHARED_CHANNEL(-100009);

    private final int code;

    RpmaError(int code) {
        this.code = code;
    }

    /** Returns the code as librpma's C interface returns it, a negative number. */
    public int code() {
        return code;
    }

    /**
     * Returns the error behind a return value of librpma.
     *
     * @param code a negative return value
     * @return the error; {@link #UNKNOWN} for a number that librpma 1.x does not define
     */
    public static RpmaError of(int code) {
        int index = UNKNOWN.code - code;
        return index >= 0 && index < VALUES.length ? VALUES[index] : UNKNOWN;
    }

    // In the order of the codes, without a gap, so that a code is an index.
    private static final RpmaError[] VALUES = values();
}
