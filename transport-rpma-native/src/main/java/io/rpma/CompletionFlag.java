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
 * Determines when a work request is reported by a completion ({@code RPMA_F_COMPLETION_*}).
 *
 * <p>librpma refuses flags of zero with {@link RpmaError#INVALID}. The providers refuse {@code null} in the same way.
 */
public enum CompletionFlag {
    /**
     * {@code RPMA_F_COMPLETION_ON_ERROR}: only a failure is reported. The slot in the send queue stays taken until a later
     * work request of the same connection that asked for {@link #ALWAYS} has been polled. That completion implies that this work
     * request has completed as well, and that its memory can be used again, with one exception: on an iWARP device
     * ({@link Device#isIwarp}), the memory of a message or write that is not reported may still be sent. Linux's {@code siw}
     * passes its pages to TCP without a copy if it has at least 4,096 bytes, and copies the bytes if it asked for
     * {@link #ALWAYS}.
     */
    ON_ERROR(1),
    /** {@code RPMA_F_COMPLETION_ALWAYS}: the completion queue receives an entry in any case. */
    ALWAYS(3);

    private final int bits;

    CompletionFlag(int bits) {
        this.bits = bits;
    }

    /** Returns the bits of the C interface. */
    public int bits() {
        return bits;
    }
}
