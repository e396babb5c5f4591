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

package io.rpma.netty.stream;

import io.rpma.CompletionFlag;
import io.rpma.Connection;
import io.rpma.LocalMemoryRegion;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaException;
import io.rpma.netty.pair.ProviderCalls;

/** Sends the bits of each message as immediate data ({@code rpma_send_with_imm(3)}, {@code rpma_write_with_imm(3)}). */
final class ImmediateWire extends StreamWire {
    static final ImmediateWire INSTANCE = new ImmediateWire();

    private ImmediateWire() {
        super(0);
    }

    @Override
    void send(Connection connection, LocalMemoryRegion region, long offset, int bytes, CompletionFlag flag, int bits,
            long context) throws RpmaException {
        ProviderCalls.sendWithImmediate(connection, region, offset, bytes, flag, bits, context);
    }

    @Override
    void write(Connection connection, RemoteMemoryRegion area, LocalMemoryRegion region, long offset, int bytes,
            CompletionFlag flag, int bits, long context) throws RpmaException {
        connection.writeWithImmediate(area, 0, region, offset, bytes, flag, bits, context);
    }

    @Override
    void announce(Connection connection, int bytes, CompletionFlag flag, int bits, long context) {
        throw new IllegalStateException("a write with immediate data needs no announcement");
    }

    @Override
    void received(Sink to, int slot, int bytes, boolean written, boolean hasImmediate, int immediate) {
        if (hasImmediate) {
            to.take(slot, bytes, written, immediate);
        } else {
            to.refuse(slot, "a message of " + bytes + " bytes came without immediate data");
        }
    }
}
