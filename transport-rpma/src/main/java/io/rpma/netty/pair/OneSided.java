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

package io.rpma.netty.pair;

import io.netty.util.ReferenceCounted;
import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.RpmaException;
import io.rpma.netty.memory.Fabric;

/**
 * A one-sided operation as a queue pair sees it. Its references are those of the operation that the application has written.
 * Used by the event loop of the connection.
 */
public interface OneSided extends ReferenceCounted {
    /**
     * Registers the operation's memory with the device, unless it is registered already. A failure here concerns this operation
     * alone, not the connection.
     */
    void register(Fabric fabric) throws RpmaException;

    /** Posts the operation, whose memory must have been registered. */
    void post(Connection connection, Fabric fabric, CompletionFlag flag, long context) throws RpmaException;

    /** Returns the name of the operation, for the message of an exception. */
    String text();

    @Override
    default ReferenceCounted retain() {
        return retain(1);
    }

    @Override
    default ReferenceCounted touch() {
        return touch(null);
    }

    @Override
    default boolean release() {
        return release(1);
    }
}
