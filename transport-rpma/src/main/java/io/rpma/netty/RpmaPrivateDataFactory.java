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

import io.rpma.Device;
import io.rpma.RpmaException;
import java.nio.ByteBuffer;

/**
 * Computes the private data of a connection when its device is known, which on a client is only the case while it connects. An
 * example is the descriptor of a region, which differs for each device. Set as
 * {@link RpmaChannelOption#RPMA_PRIVATE_DATA_FACTORY}:
 *
 * <pre>{@code
 * new Bootstrap().option(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, region::descriptor)
 * }</pre>
 */
@FunctionalInterface
public interface RpmaPrivateDataFactory {
    /**
     * Returns the private data of one connection.
     *
     * <p>A client calls it once for each attempt to connect, before the request is sent; usually on a thread that may block, on
     * the software provider also on the event loop. A server channel calls it once when it is bound, so that an error fails the
     * bind, and then for each client that it accepts, on its event loop.
     *
     * @param device the device of the connection, for {@link RpmaRegion#descriptor(Device)}
     * @return the private data, which are the remaining bytes of the buffer; at most as many as
     *     {@link RpmaChannelOption#RPMA_PRIVATE_DATA} may have; an empty buffer for none, never {@code null}
     * @throws RpmaException if the private data cannot be computed; the bind, the connect or the connection of this one client
     *     then fails with it, as with any other exception
     */
    ByteBuffer newPrivateData(Device device) throws RpmaException;
}
