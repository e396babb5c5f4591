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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.util.internal.StringUtil;

/**
 * A message with immediate data: 32 bits that are transferred beside the bytes ({@code rpma_send_with_imm(3)}). It is written
 * to an {@link RpmaMessageChannel} as one message, and read from one if the peer's message had immediate data; a message
 * without immediate data is a plain {@link ByteBuf}.
 *
 * <p>A device without immediate data, such as an iWARP device, cannot send it: the write fails immediately.
 */
public final class RpmaMessage extends DefaultByteBufHolder {
    private final int immediate;

    /**
     * Creates a message.
     *
     * @param content its bytes, possibly empty; released together with the message
     * @param immediate the immediate data, in host order
     */
    public RpmaMessage(ByteBuf content, int immediate) {
        super(content);
        this.immediate = immediate;
    }

    /** Returns the immediate data, in host order. */
    public int immediate() {
        return immediate;
    }

    @Override
    public RpmaMessage replace(ByteBuf content) {
        return new RpmaMessage(content, immediate);
    }

    @Override
    public RpmaMessage copy() {
        return (RpmaMessage) super.copy();
    }

    @Override
    public RpmaMessage duplicate() {
        return (RpmaMessage) super.duplicate();
    }

    @Override
    public RpmaMessage retainedDuplicate() {
        return (RpmaMessage) super.retainedDuplicate();
    }

    @Override
    public RpmaMessage retain() {
        super.retain();
        return this;
    }

    @Override
    public RpmaMessage retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpmaMessage touch() {
        super.touch();
        return this;
    }

    @Override
    public RpmaMessage touch(Object hint) {
        super.touch(hint);
        return this;
    }

    @Override
    public boolean equals(Object o) {
        return super.equals(o) && immediate == ((RpmaMessage) o).immediate;
    }

    @Override
    public int hashCode() {
        return 31 * super.hashCode() + immediate;
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + "(immediate: " + immediate + ", " + content() + ')';
    }
}
