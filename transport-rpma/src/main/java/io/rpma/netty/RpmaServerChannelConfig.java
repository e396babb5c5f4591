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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.rpma.netty.DeclaredOptions.Declared;
import io.rpma.netty.stream.Handshake;

/**
 * The configuration of an {@link RpmaServerChannel}. {@code SO_BACKLOG} is the number of accepted connections that may wait for
 * {@code read()}; {@code SO_REUSEADDR} and {@code SO_RCVBUF} are accepted and have no effect. Thread-safe.
 */
public final class RpmaServerChannelConfig extends AbstractRpmaChannelConfig implements ServerSocketChannelConfig {
    private static final DeclaredOptions OPTIONS = new DeclaredOptions();
    private static final StreamOptions.Declarations STREAM =
        new StreamOptions.Declarations(OPTIONS, Handshake.MAX_ANSWER_DATA);
    private static final RequestOptions.Declarations REQUESTS = new RequestOptions.Declarations(OPTIONS);
    private static final Declared<Integer> BACKLOG = OPTIONS.backlog();
    private static final Declared<Boolean> REUSE_ADDRESS = OPTIONS.flag(ChannelOption.SO_REUSEADDR, false);
    private static final Declared<Integer> RECEIVE_BUFFER_SIZE = OPTIONS.number(ChannelOption.SO_RCVBUF, 64 << 10);

    private final StreamOptions stream = new StreamOptions(STREAM, values);
    private final RequestOptions requests = new RequestOptions(REQUESTS, values);

    RpmaServerChannelConfig(Channel channel, OptionOwner owner) {
        super(channel, owner, OPTIONS, true);
    }

    StreamOptions stream() {
        return stream;
    }

    RequestOptions requests() {
        return requests;
    }

    @Override
    public int getBacklog() {
        return values.get(BACKLOG);
    }

    @Override
    public RpmaServerChannelConfig setBacklog(int connections) {
        values.set(BACKLOG, connections);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return values.get(REUSE_ADDRESS);
    }

    @Override
    public RpmaServerChannelConfig setReuseAddress(boolean value) {
        values.set(REUSE_ADDRESS, value);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return values.get(RECEIVE_BUFFER_SIZE);
    }

    @Override
    public RpmaServerChannelConfig setReceiveBufferSize(int bytes) {
        values.set(RECEIVE_BUFFER_SIZE, bytes);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public RpmaServerChannelConfig setConnectTimeoutMillis(int millis) {
        super.setConnectTimeoutMillis(millis);
        return this;
    }

    @Override
    @Deprecated
    public RpmaServerChannelConfig setMaxMessagesPerRead(int count) {
        super.setMaxMessagesPerRead(count);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setWriteSpinCount(int count) {
        super.setWriteSpinCount(count);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setAutoRead(boolean value) {
        super.setAutoRead(value);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setWriteBufferHighWaterMark(int bytes) {
        super.setWriteBufferHighWaterMark(bytes);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setWriteBufferLowWaterMark(int bytes) {
        super.setWriteBufferLowWaterMark(bytes);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark mark) {
        super.setWriteBufferWaterMark(mark);
        return this;
    }

    @Override
    public RpmaServerChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }
}
