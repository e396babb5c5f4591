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

import io.rpma.netty.memory.RpmaByteBuf;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** Lets a file region transfer itself into a message; accepts no more bytes than the message has room for. */
final class MessageSink implements WritableByteChannel {
    private final RpmaByteBuf message;

    MessageSink(RpmaByteBuf message) {
        this.message = message;
    }

    @Override
    public int write(ByteBuffer src) {
        int n = Math.min(src.remaining(), message.writableBytes());
        int limit = src.limit();
        src.limit(src.position() + n);
        message.writeBytes(src);
        src.limit(limit);
        return n;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {
        // The creator of the sink owns the message.
    }
}
