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

/**
 * A user event on an {@link RpmaChannel} whose unread messages had to be moved out of registered memory, because none was left:
 * the application keeps too many received buffers or leaves too much data unread, on this or on other channels. No data is lost
 * and no other connection waits, but each such message costs an allocation and a copy. Release buffers sooner, read more, or
 * raise {@code -Dio.rpma.netty.maxRegisteredBytes}. Fired on the event loop, once for all messages that came in one batch.
 */
public final class RpmaReceiveStarvation {
    /** The only instance. */
    public static final RpmaReceiveStarvation INSTANCE = new RpmaReceiveStarvation();

    private RpmaReceiveStarvation() {
    }

    @Override
    public String toString() {
        return "RpmaReceiveStarvation";
    }
}
