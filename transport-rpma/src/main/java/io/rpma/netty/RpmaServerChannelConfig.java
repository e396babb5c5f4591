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
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import java.util.Map;

/**
 * The configuration of an {@link RpmaServerChannel}. {@code SO_BACKLOG} is how many accepted connections wait for
 * {@code read()}; {@code SO_REUSEADDR} and {@code SO_RCVBUF} are accepted and have no effect. Thread-safe.
 */
public final class RpmaServerChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {
    private final StreamOptions stream = new StreamOptions();
    private final AbstractRpmaServerChannel owner;
    private volatile int backlog = NetUtil.SOMAXCONN;
    private volatile boolean reuseAddress;
    private volatile int receiveBufferSize = 64 << 10;

    RpmaServerChannelConfig(AbstractRpmaServerChannel channel) {
        super(channel);
        owner = channel;
    }

    StreamOptions stream() {
        return stream;
    }

    @Override
    protected void autoReadCleared() {
        owner.clearReadPending();
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), ChannelOption.SO_RCVBUF, ChannelOption.SO_REUSEADDR,
            ChannelOption.SO_BACKLOG, RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES,
            RpmaChannelOption.RPMA_RECEIVE_BUFFERS, RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == ChannelOption.SO_RCVBUF) {
            value = receiveBufferSize;
        } else if (option == ChannelOption.SO_REUSEADDR) {
            value = reuseAddress;
        } else if (option == ChannelOption.SO_BACKLOG) {
            value = backlog;
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES) {
            value = stream.messageBytes();
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFERS) {
            value = stream.credits();
        } else if (option == RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE) {
            value = stream.shared();
        } else {
            return super.getOption(option);
        }
        return (T) value;
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (option == ChannelOption.SO_RCVBUF) {
            setReceiveBufferSize((Integer) value);
        } else if (option == ChannelOption.SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == ChannelOption.SO_BACKLOG) {
            setBacklog((Integer) value);
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES) {
            stream.messageBytes((Integer) value);
        } else if (option == RpmaChannelOption.RPMA_RECEIVE_BUFFERS) {
            stream.credits((Integer) value);
        } else if (option == RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE) {
            stream.shared((Boolean) value);
        } else {
            return super.setOption(option, value);
        }
        return true;
    }

    @Override
    public int getBacklog() {
        return backlog;
    }

    @Override
    public RpmaServerChannelConfig setBacklog(int connections) {
        if (connections < 0) {
            throw new IllegalArgumentException("SO_BACKLOG is " + connections + "; it must not be negative");
        }
        backlog = connections;
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public RpmaServerChannelConfig setReuseAddress(boolean value) {
        reuseAddress = value;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    @Override
    public RpmaServerChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize = bytes;
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
