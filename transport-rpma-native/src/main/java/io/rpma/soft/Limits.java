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

package io.rpma.soft;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.Half;

/** The limits of the device, and what it can do. Any thread may use them. */
final class Limits {
    /** Slots of a send, receive or shared receive queue. */
    static final int MAX_WORK_REQUESTS = Half.MAX_CAPACITY;
    /** Entries of a completion queue: enough for a full send and a full receive queue. */
    static final int MAX_COMPLETIONS = 1 << 16;
    /** Queue pairs of a process. */
    static final int MAX_QUEUE_PAIRS = 1 << 20;
    /** Bytes of one message, read or write. */
    static final long MAX_MESSAGE = 1L << 30;

    /** Whether the device has immediate data. A test may switch it off, so that the device behaves like an iWARP device. */
    static final boolean IMMEDIATE_DATA = !Boolean.getBoolean("io.rpma.soft.withoutImmediateData");

    private Limits() {
    }

    /** Refuses the size of a queue that is out of bounds. */
    static void check(String name, int value, int least, int most) throws RpmaException {
        if (value < least || value > most) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EINVAL, name + " is " + value
                + "; the software provider supports " + least + " to " + most, null);
        }
    }
}
