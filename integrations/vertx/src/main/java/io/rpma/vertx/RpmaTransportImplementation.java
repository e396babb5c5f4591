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
package io.rpma.vertx;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.unix.DomainSocketAddress;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaIoHandler;
import io.rpma.netty.RpmaServerChannel;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.spi.transport.Transport;

/**
 * Selects the Netty classes that Vert.x uses. All of them run on the same event loops, because the handlers of RPMA wrap those of
 * epoll.
 */
final class RpmaTransportImplementation implements Transport {
    private static final StackWalker CALLER = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final String DNS = "io.vertx.core.dns.";

    @Override
    public IoHandlerFactory ioHandlerFactory() {
        return RpmaIoHandler.newFactory();
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        if (domainSocket) {
            return EpollDomainSocketChannel::new;
        }
        // The DNS resolver of Vert.x uses the same call for its TCP connections, which it opens when an answer is too long for
        // UDP.
        return CALLER.getCallerClass().getName().startsWith(DNS) ? EpollSocketChannel::new : RpmaChannel::new;
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        return domainSocket ? EpollServerDomainSocketChannel::new : RpmaServerChannel::new;
    }

    @Override
    @SuppressWarnings("deprecation")
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
        return new EpollDatagramChannel(family == InternetProtocolFamily.IPv6 ? SocketProtocolFamily.INET6
            : SocketProtocolFamily.INET);
    }

    @Override
    public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
        return EpollDatagramChannel::new;
    }

    @Override
    public void configure(DatagramChannel channel, DatagramSocketOptions options) {
        // Vert.x leaves this option to its native transports.
        channel.config().setOption(EpollChannelOption.SO_REUSEPORT, options.isReusePort());
        Transport.super.configure(channel, options);
    }

    @Override
    public boolean supportsDomainSockets() {
        return true;
    }

    @Override
    public java.net.SocketAddress convert(SocketAddress address) {
        return address.isDomainSocket() ? new DomainSocketAddress(address.path()) : Transport.super.convert(address);
    }

    @Override
    public SocketAddress convert(java.net.SocketAddress address) {
        return address instanceof DomainSocketAddress domain ? SocketAddress.domainSocketAddress(domain.path())
            : Transport.super.convert(address);
    }
}
