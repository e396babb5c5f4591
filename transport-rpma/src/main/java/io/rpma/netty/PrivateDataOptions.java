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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.DeclaredOptions.Declared;
import io.rpma.netty.memory.Fabric;
import java.nio.ByteBuffer;

/** The options that set the private data for the peer: fixed bytes, or a factory. */
final class PrivateDataOptions {
    private final int maxBytes;
    private final Declared<ByteBuffer> fixed;
    private final Declared<RpmaPrivateDataFactory> factory;

    /**
     * Declares the options.
     *
     * @param maxBytes how many bytes a connection request, or an acceptance, can carry
     */
    PrivateDataOptions(DeclaredOptions options, int maxBytes) {
        this.maxBytes = maxBytes;
        fixed = options.value(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.class, ByteBuffer.allocate(0), given -> {
            DeclaredOptions.check(RpmaChannelOption.RPMA_PRIVATE_DATA, given.remaining(), " bytes", 0, maxBytes);
            return ByteBuffer.allocate(given.remaining()).put(given.duplicate()).flip();
        }, ByteBuffer::asReadOnlyBuffer);
        factory = options.value(RpmaChannelOption.RPMA_PRIVATE_DATA_FACTORY, RpmaPrivateDataFactory.class, null);
    }

    /** Returns the options with the current values of a channel. */
    Source source(OptionValues values) {
        return new Source(values.get(fixed), values.get(factory), maxBytes);
    }

    /**
     * The source of the private data of a connection.
     *
     * @param fixed the bytes, used if there is no factory
     * @param factory the factory, or {@code null}
     * @param maxBytes the largest number of bytes
     */
    record Source(ByteBuffer fixed, RpmaPrivateDataFactory factory, int maxBytes) {
        /**
         * Returns the private data for a connection over a fabric, possibly empty.
         *
         * @throws RpmaException if the factory failed; the message gives the reason
         */
        ByteBuffer on(Fabric fabric) throws RpmaException {
            if (factory == null) {
                return fixed;
            }
            ByteBuffer made;
            try {
                made = factory.newPrivateData(fabric.device());
            } catch (RpmaException e) {
                throw new RpmaException(e.error(), e.errno(), failed(fabric, e.getMessage()), e);
            } catch (Throwable e) {
                // An error, or a checked exception of another JVM language, must not end the listener or an event loop's turn.
                throw new RpmaException(RpmaError.INVALID, 0, failed(fabric, e.toString()), e);
            }
            if (made == null) {
                throw new RpmaException(RpmaError.INVALID, failed(fabric, "it returned null; return an empty buffer for none"));
            }
            if (made.remaining() > maxBytes) {
                throw new RpmaException(RpmaError.INVALID, failed(fabric, "it returned " + made.remaining()
                    + " bytes; allowed are 0 to " + maxBytes));
            }
            return ByteBuffer.allocate(made.remaining()).put(made.duplicate()).flip();
        }

        private static String failed(Fabric fabric, String why) {
            return "RPMA_PRIVATE_DATA_FACTORY failed for the device " + fabric + ": " + why;
        }
    }
}
