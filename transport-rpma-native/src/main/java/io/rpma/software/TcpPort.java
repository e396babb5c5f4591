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
package io.rpma.software;

import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/** A listener that owns a TCP port, and can hand its TCP clients over to a listener of another provider. */
public interface TcpPort {
    /** Returns the address that it listens at, with its port. */
    InetSocketAddress localAddress();

    /**
     * Hands over TCP clients from now on, after this listener has sent its hello to each.
     *
     * @param taker takes ownership of a non-blocking socket on which nothing has been received; called by any thread.
     *     {@code null} to end the handover
     */
    void handOver(IntConsumer taker);
}
