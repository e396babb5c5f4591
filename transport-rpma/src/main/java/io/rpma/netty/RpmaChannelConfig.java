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
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;

/**
 * The configuration of an {@link RpmaChannel}. The options of a TCP socket are accepted and given back; of them
 * {@code ALLOW_HALF_CLOSURE} and {@code SO_LINGER} mean what they mean for TCP, and the rest, which tune what an RDMA device does
 * not have ({@code TCP_NODELAY}, {@code SO_KEEPALIVE}, {@code SO_REUSEADDR}, {@code IP_TOS}, {@code SO_SNDBUF},
 * {@code SO_RCVBUF}), have no effect. Thread-safe.
 */
public final class RpmaChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {
    private final StreamOptions stream = new StreamOptions();
    private final RpmaChannel owner;
    private volatile boolean allowHalfClosure;
    private volatile boolean tcpNoDelay = true;
    private volatile boolean keepAlive;
    private volatile boolean reuseAddress;
    private volatile int soLinger = -1;
    private volatile int sendBufferSize = 64 << 10;
    private volatile int receiveBufferSize = 64 << 10;
    private volatile int trafficClass;

    RpmaChannelConfig(RpmaChannel channel) {
        super(channel);
        owner = channel;
        // What the pipeline allocates for a write then lies in registered memory, and is sent from there.
        super.setAllocator(RpmaByteBufAllocator.DEFAULT);
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
        return getOptions(super.getOptions(), ChannelOption.SO_RCVBUF, ChannelOption.SO_SNDBUF, ChannelOption.TCP_NODELAY,
            ChannelOption.SO_KEEPALIVE, ChannelOption.SO_REUSEADDR, ChannelOption.SO_LINGER, ChannelOption.IP_TOS,
            ChannelOption.ALLOW_HALF_CLOSURE, RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES,
            RpmaChannelOption.RPMA_RECEIVE_BUFFERS, RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T getOption(ChannelOption<T> option) {
        Object value;
        if (option == ChannelOption.SO_RCVBUF) {
            value = receiveBufferSize;
        } else if (option == ChannelOption.SO_SNDBUF) {
            value = sendBufferSize;
        } else if (option == ChannelOption.TCP_NODELAY) {
            value = tcpNoDelay;
        } else if (option == ChannelOption.SO_KEEPALIVE) {
            value = keepAlive;
        } else if (option == ChannelOption.SO_REUSEADDR) {
            value = reuseAddress;
        } else if (option == ChannelOption.SO_LINGER) {
            value = soLinger;
        } else if (option == ChannelOption.IP_TOS) {
            value = trafficClass;
        } else if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            value = allowHalfClosure;
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
        } else if (option == ChannelOption.SO_SNDBUF) {
            setSendBufferSize((Integer) value);
        } else if (option == ChannelOption.TCP_NODELAY) {
            setTcpNoDelay((Boolean) value);
        } else if (option == ChannelOption.SO_KEEPALIVE) {
            setKeepAlive((Boolean) value);
        } else if (option == ChannelOption.SO_REUSEADDR) {
            setReuseAddress((Boolean) value);
        } else if (option == ChannelOption.SO_LINGER) {
            setSoLinger((Integer) value);
        } else if (option == ChannelOption.IP_TOS) {
            setTrafficClass((Integer) value);
        } else if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            setAllowHalfClosure((Boolean) value);
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
    public boolean isTcpNoDelay() {
        return tcpNoDelay;
    }

    @Override
    public RpmaChannelConfig setTcpNoDelay(boolean value) {
        tcpNoDelay = value;
        return this;
    }

    @Override
    public int getSoLinger() {
        return soLinger;
    }

    /**
     * Sets what closing does: 0 aborts, so that the peer sees a reset and what is under way may be lost; a positive number of
     * seconds bounds the delivery of what is under way; a negative one leaves that bound at its default of 5 seconds.
     */
    @Override
    public RpmaChannelConfig setSoLinger(int seconds) {
        soLinger = seconds;
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return sendBufferSize;
    }

    @Override
    public RpmaChannelConfig setSendBufferSize(int bytes) {
        sendBufferSize = bytes;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    @Override
    public RpmaChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize = bytes;
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return keepAlive;
    }

    @Override
    public RpmaChannelConfig setKeepAlive(boolean value) {
        keepAlive = value;
        return this;
    }

    @Override
    public int getTrafficClass() {
        return trafficClass;
    }

    @Override
    public RpmaChannelConfig setTrafficClass(int value) {
        trafficClass = value;
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public RpmaChannelConfig setReuseAddress(boolean value) {
        reuseAddress = value;
        return this;
    }

    @Override
    public RpmaChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }

    @Override
    public RpmaChannelConfig setAllowHalfClosure(boolean value) {
        allowHalfClosure = value;
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
