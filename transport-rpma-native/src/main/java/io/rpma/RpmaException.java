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

import java.io.IOException;

/**
 * A failed call of the provider: a negative return value of librpma, or the equivalent error of the software provider.
 *
 * <p>The message names the function, the value that was refused, the limit it broke and the remedy, where there is one.
 */
public class RpmaException extends IOException {
    private final RpmaError error;
    private final int errno;

    /**
     * Creates an exception without an operating system's error number.
     *
     * @param error the code
     * @param message what failed, with the value, the limit and the remedy
     */
    public RpmaException(RpmaError error, String message) {
        this(error, 0, message, null);
    }

    /**
     * Creates an exception.
     *
     * @param error the code
     * @param errno the operating system's error number, or 0 if this call sets none
     * @param message what failed, with the value, the limit and the remedy
     * @param cause the failure behind it, or {@code null}
     */
    public RpmaException(RpmaError error, int errno, String message, Throwable cause) {
        super(message, cause);
        this.error = error;
        this.errno = errno;
    }

    /** Returns the code that librpma's C interface would return. */
    public RpmaError error() {
        return error;
    }

    /**
     * Returns the operating system's error number ({@code errno}), or 0 if the call left no meaningful one.
     */
    public int errno() {
        return errno;
    }
}
