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
package io.rpma.frameworks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DefaultDnsResponse;
import io.netty.handler.codec.dns.DnsQuery;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponse;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.handler.codec.dns.TcpDnsQueryDecoder;
import io.netty.handler.codec.dns.TcpDnsResponseEncoder;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A name server on ordinary UDP and TCP sockets. It resolves every name to 127.0.0.1, but over UDP its answer is always
 * truncated.
 */
public final class TruncatingNameServer implements AutoCloseable {
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final AtomicInteger overUdp = new AtomicInteger();
    private final AtomicInteger overTcp = new AtomicInteger();
    private final InetSocketAddress address;

    /** Listens on any free port, which is the same for UDP and TCP. */
    public TruncatingNameServer() throws InterruptedException {
        Channel tcp = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
            .childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new TcpDnsQueryDecoder(), new TcpDnsResponseEncoder(), new OverTcp());
                }
            }).bind("127.0.0.1", 0).sync().channel();
        address = (InetSocketAddress) tcp.localAddress();
        new Bootstrap().group(group).channel(EpollDatagramChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new DatagramDnsQueryDecoder(), new DatagramDnsResponseEncoder(), new OverUdp());
            }
        }).bind(address).sync();
    }

    /** Returns the address that it listens on. */
    public InetSocketAddress address() {
        return address;
    }

    /** Returns the number of queries that arrived over UDP. */
    public int overUdp() {
        return overUdp.get();
    }

    /** Returns the number of queries that arrived over TCP. */
    public int overTcp() {
        return overTcp.get();
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static DnsResponse answer(DnsQuery query, DnsResponse response, boolean truncated) {
        DnsQuestion question = query.recordAt(DnsSection.QUESTION);
        response.setRecursionAvailable(true).setTruncated(truncated).setCode(DnsResponseCode.NOERROR)
            .addRecord(DnsSection.QUESTION, new DefaultDnsQuestion(question.name(), question.type()));
        if (!truncated && question.type().equals(DnsRecordType.A)) {
            response.addRecord(DnsSection.ANSWER, new DefaultDnsRawRecord(question.name(), DnsRecordType.A, 60,
                Unpooled.wrappedBuffer(new byte[] {127, 0, 0, 1})));
        }
        return response;
    }

    private final class OverUdp extends SimpleChannelInboundHandler<DatagramDnsQuery> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DatagramDnsQuery query) {
            overUdp.incrementAndGet();
            ctx.writeAndFlush(answer(query, new DatagramDnsResponse(query.recipient(), query.sender(), query.id()), true));
        }
    }

    private final class OverTcp extends SimpleChannelInboundHandler<DnsQuery> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DnsQuery query) {
            overTcp.incrementAndGet();
            ctx.writeAndFlush(answer(query, new DefaultDnsResponse(query.id()), false));
        }
    }
}
