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

import io.rpma.RpmaException;
import io.rpma.netty.pair.QueuePair;
import java.nio.ByteBuffer;

/**
 * A connection request that a server channel has taken and not answered yet. Exactly one of the answers must be given, on the
 * event loop.
 */
interface Admission {
    /** Returns the private data of the client's application. */
    ByteBuffer privateData();

    /** Returns the largest number of bytes of private data, or of a reason, in the answer. */
    int maxPrivateData();

    /**
     * Accepts the request.
     *
     * @param answer the private data for the client, {@code null} for those of the options
     * @return the connection, not established yet
     */
    QueuePair accept(ByteBuffer answer) throws RpmaException;

    /** Refuses the request, with a reason that is sent to the client. */
    void refuse(byte[] reason) throws RpmaException;

    /** Rejects the request without a reason. */
    void reject() throws RpmaException;
}
