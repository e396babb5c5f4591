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
package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import java.lang.foreign.MemorySegment;

/** Converts return values to exceptions. */
final class LibrpmaFailure {
    /** The largest length that a work request can have; librpma would truncate a longer one without an error. */
    static final long MAX_LENGTH = 0xffff_ffffL;

    private LibrpmaFailure() {
    }

    /** Fails if the return value is an error. */
    static void check(String function, int code) throws RpmaException {
        if (code != 0) {
            throw of(function, code, 0, null);
        }
    }

    /**
     * Returns {@code errno} after a call, or 0 if the code does not say that the system has set it: the library then leaves any
     * value.
     *
     * @param code the return value
     * @param capture the memory that received {@code errno}
     */
    static int errno(int code, MemorySegment capture) {
        return code == RpmaError.PROVIDER.code() ? Posix.errno(capture) : 0;
    }

    /**
     * Returns the exception of a return value.
     *
     * @param function the function that failed
     * @param code its return value
     * @param errno the value of {@link #errno}, or 0
     * @param detail values, limits and remedies, or {@code null}
     */
    static RpmaException of(String function, int code, int errno, String detail) {
        RpmaError error = RpmaError.of(code);
        StringBuilder message = new StringBuilder(function).append(" failed: ")
            .append(Librpma.text(Librpma.ERR_2STR, code)).append(" (").append(error);
        if (errno != 0) {
            message.append(", errno ").append(errno).append(": ").append(Posix.strerror(errno));
        }
        message.append(')');
        if (detail != null) {
            message.append(": ").append(detail);
        }
        return new RpmaException(error, errno, message.toString(), null);
    }

    /** Returns the exception for an argument or a state that is not valid. */
    static RpmaException invalid(String message) {
        return new RpmaException(RpmaError.INVALID, message);
    }

    /** Returns the exception for an offset or a length that no work request can have. */
    static RpmaException range(String function, String what, long value) {
        return invalid(function + ": " + what + " is " + value + (value < 0 ? "; it must not be negative"
            : "; a work request carries at most " + MAX_LENGTH + " bytes: split it"));
    }
}
