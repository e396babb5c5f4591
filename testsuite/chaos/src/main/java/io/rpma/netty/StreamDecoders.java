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

import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import java.net.ProtocolException;
import java.nio.ByteBuffer;

/** Makes the decoders of the stream protocol accessible for tests with garbage. */
public final class StreamDecoders {
    private StreamDecoders() {
    }

    /** Decodes a handshake, and checks that the decoded values are within the limits of the protocol. */
    public static void handshake(ByteBuffer data) throws ProtocolException {
        Handshake handshake = Handshake.decode(data);
        if (handshake.status() == Handshake.ACCEPTED && (handshake.messageBytes() < Handshake.MIN_MESSAGE_BYTES
            || handshake.messageBytes() > Handshake.MAX_MESSAGE_BYTES || handshake.credits() < 1
            || handshake.credits() > Immediate.MAX_CREDITS || handshake.bulkBytes() > Handshake.MAX_BULK_BYTES)) {
            throw new IllegalStateException("believed: " + handshake);
        }
    }
}
