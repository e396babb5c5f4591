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
import io.netty.channel.socket.SocketChannelConfig;
import io.rpma.netty.DeclaredOptions.Declared;
import io.rpma.netty.stream.Handshake;

/**
 * The configuration of an {@link RpmaChannel}. The options of a TCP socket are accepted and returned.
 * {@code ALLOW_HALF_CLOSURE} and {@code SO_LINGER} mean what they mean for TCP; the others concern features that an RDMA device
 * does not have ({@code TCP_NODELAY}, {@code SO_KEEPALIVE}, {@code SO_REUSEADDR}, {@code IP_TOS}, {@code SO_SNDBUF},
 * {@code SO_RCVBUF}) and have no effect. Thread-safe.
 */
public final class RpmaChannelConfig extends AbstractRpmaChannelConfig implements SocketChannelConfig {
    private static final DeclaredOptions OPTIONS = new DeclaredOptions();
    private static final StreamOptions.Declarations STREAM =
        new StreamOptions.Declarations(OPTIONS, Handshake.MAX_REQUEST_DATA);
    private static final Declared<Boolean> ALLOW_HALF_CLOSURE = OPTIONS.flag(ChannelOption.ALLOW_HALF_CLOSURE, false);
    private static final Declared<Integer> LINGER = OPTIONS.number(ChannelOption.SO_LINGER, -1);
    private static final Declared<Boolean> NO_DELAY = OPTIONS.flag(ChannelOption.TCP_NODELAY, true);
    private static final Declared<Boolean> KEEP_ALIVE = OPTIONS.flag(ChannelOption.SO_KEEPALIVE, false);
    private static final Declared<Boolean> REUSE_ADDRESS = OPTIONS.flag(ChannelOption.SO_REUSEADDR, false);
    private static final Declared<Integer> SEND_BUFFER_SIZE = OPTIONS.number(ChannelOption.SO_SNDBUF, 64 << 10);
    private static final Declared<Integer> RECEIVE_BUFFER_SIZE = OPTIONS.number(ChannelOption.SO_RCVBUF, 64 << 10);
    private static final Declared<Integer> TRAFFIC_CLASS = OPTIONS.number(ChannelOption.IP_TOS, 0);

    private final StreamOptions stream = new StreamOptions(STREAM, values);

    RpmaChannelConfig(Channel channel, OptionOwner owner) {
        super(channel, owner, OPTIONS, true);
        // Buffers that the pipeline allocates for a write are then in registered memory and sent without copying.
        super.setAllocator(RpmaByteBufAllocator.DEFAULT);
    }

    StreamOptions stream() {
        return stream;
    }

    @Override
    public boolean isTcpNoDelay() {
        return values.get(NO_DELAY);
    }

    @Override
    public RpmaChannelConfig setTcpNoDelay(boolean value) {
        values.set(NO_DELAY, value);
        return this;
    }

    @Override
    public int getSoLinger() {
        return values.get(LINGER);
    }

    /**
     * Sets what closing does. 0 aborts the connection: the peer sees a reset, and outstanding data may be lost. A positive
     * number of seconds bounds the delivery of outstanding data; a negative number selects the default bound of 5 seconds.
     */
    @Override
    public RpmaChannelConfig setSoLinger(int seconds) {
        values.set(LINGER, seconds);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return values.get(SEND_BUFFER_SIZE);
    }

    @Override
    public RpmaChannelConfig setSendBufferSize(int bytes) {
        values.set(SEND_BUFFER_SIZE, bytes);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return values.get(RECEIVE_BUFFER_SIZE);
    }

    @Override
    public RpmaChannelConfig setReceiveBufferSize(int bytes) {
        values.set(RECEIVE_BUFFER_SIZE, bytes);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return values.get(KEEP_ALIVE);
    }

    @Override
    public RpmaChannelConfig setKeepAlive(boolean value) {
        values.set(KEEP_ALIVE, value);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return values.get(TRAFFIC_CLASS);
    }

    @Override
    public RpmaChannelConfig setTrafficClass(int value) {
        values.set(TRAFFIC_CLASS, value);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return values.get(REUSE_ADDRESS);
    }

    @Override
    public RpmaChannelConfig setReuseAddress(boolean value) {
        values.set(REUSE_ADDRESS, value);
        return this;
    }

    @Override
    public RpmaChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return values.get(ALLOW_HALF_CLOSURE);
    }

    @Override
    public RpmaChannelConfig setAllowHalfClosure(boolean value) {
        values.set(ALLOW_HALF_CLOSURE, value);
        return this;
    }

    @Override
    public RpmaChannelConfig setConnectTimeoutMillis(int millis) {
        super.setConnectTimeoutMillis(millis);
        return this;
    }

    @Override
    @Deprecated
    public RpmaChannelConfig setMaxMessagesPerRead(int count) {
        super.setMaxMessagesPerRead(count);
        return this;
    }

    @Override
    public RpmaChannelConfig setWriteSpinCount(int count) {
        super.setWriteSpinCount(count);
        return this;
    }

    @Override
    public RpmaChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RpmaChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RpmaChannelConfig setAutoRead(boolean value) {
        super.setAutoRead(value);
        return this;
    }

    @Override
    public RpmaChannelConfig setAutoClose(boolean value) {
        super.setAutoClose(value);
        return this;
    }

    @Override
    public RpmaChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark mark) {
        super.setWriteBufferWaterMark(mark);
        return this;
    }

    @Override
    public RpmaChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }
}
