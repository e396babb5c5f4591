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
package io.rpma.examples;

import com.sun.net.httpserver.HttpServer;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.Errors;
import io.netty.util.NetUtil;
import io.rpma.netty.RpmaByteBufAllocator;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaPolling;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * A proxy between TCP and RPMA that lets unmodified programs use the fabric. Both protocols use one event loop group. A proxy
 * next to the client forwards the client's TCP connections over RPMA to a proxy next to the server, which forwards them over TCP
 * to the server. If one side does not read, the proxy stops reading from the other side. The end of one direction is forwarded
 * and leaves the other direction open. If a connection breaks, the proxy also closes the connection on the other side.
 */
@Command(name = "tcp-proxy", description = "Lets programs that know only TCP use RPMA")
final class TcpProxyExample implements Callable<Integer> {
    private static final int EACCES = 13;
    private static final int EADDRINUSE = 98;
    private static final int EADDRNOTAVAIL = 99;

    @Spec
    private CommandSpec spec;

    @Mixin
    private CommonOptions common;

    @ArgGroup(exclusive = false)
    private Route route;

    @Option(names = "--requests", paramLabel = "N", defaultValue = "500", converter = AtLeastOne.class,
        description = "without --from and --to: how many of HTTP, first to the server itself, then through two proxies"
            + " (default: ${DEFAULT-VALUE})")
    private int requests;

    /** The address to accept connections on, and the address to forward them to. */
    static final class Route {
        @Option(names = "--from", paramLabel = "END", required = true,
            description = "where to listen: tcp:HOST:PORT or rpma:HOST:PORT, with port 0 at any free one")
        private End from;

        @Option(names = "--to", paramLabel = "END", required = true,
            description = "where to connect to, written likewise, with its port")
        private End to;
    }

    /**
     * One end of a route.
     *
     * @param rpma whether the end uses RPMA instead of TCP
     * @param address the address to listen on or to connect to
     */
    record End(boolean rpma, InetSocketAddress address) {
        static End parse(String text) {
            int host = text.indexOf(':') + 1;
            int port = text.lastIndexOf(':') + 1;
            String transport = text.substring(0, Math.max(0, host - 1));
            // Java takes an empty name for this host, on which a proxy would then be reachable only from this host.
            if (!transport.equals("tcp") && !transport.equals("rpma") || port <= host + 1
                    || !text.substring(port).matches("\\d{1,5}") || Integer.parseInt(text.substring(port)) > 65535) {
                throw new TypeConversionException("'" + text + "' is not tcp:HOST:PORT or rpma:HOST:PORT");
            }
            InetSocketAddress address =
                new InetSocketAddress(text.substring(host, port - 1), Integer.parseInt(text.substring(port)));
            if (address.isUnresolved()) {
                throw new TypeConversionException("'" + text + "': the name " + address.getHostString() + " is unknown");
            }
            return new End(transport.equals("rpma"), address);
        }

        /** Returns a TCP end on this host. */
        static End tcp(int port) {
            return new End(false, new InetSocketAddress("127.0.0.1", port));
        }

        static End rpma(int port) {
            return new End(true, new InetSocketAddress("127.0.0.1", port));
        }

        /** Returns the end that a server channel listens on. */
        static End of(Channel server) {
            return new End(server instanceof RpmaServerChannel, (InetSocketAddress) server.localAddress());
        }

        Class<? extends ServerChannel> serverChannel() {
            return rpma ? RpmaServerChannel.class : EpollServerSocketChannel.class;
        }

        Class<? extends Channel> channel() {
            return rpma ? RpmaChannel.class : EpollSocketChannel.class;
        }

        @Override
        public String toString() {
            return (rpma ? "rpma:" : "tcp:") + NetUtil.toSocketAddressString(address);
        }
    }

    @Override
    public Integer call() throws Exception {
        if (route != null && route.to.address.getPort() == 0) {
            throw new ParameterException(spec.commandLine(), "--to " + route.to + ": the target's port is needed, 1 to 65535");
        }
        // Event loops that poll while they are idle would take processor time from the programs on the same machine.
        EventLoopGroup group = new RpmaEventLoopGroup(2, RpmaPolling.BLOCK);
        try {
            if (route == null) {
                compare(group);
            } else {
                Channel proxy = start(group, route.from, route.to);
                System.out.println(ServerProcess.LISTENING + End.of(proxy));
                proxy.closeFuture().sync();
            }
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    /** Compares Java's own HTTP client and server, which do not support RPMA, without and with the proxies. */
    private void compare(EventLoopGroup group) throws Exception {
        byte[] body = new byte[64 << 10];
        new Random(1).nextBytes(body);
        HttpServer server = HttpServer.create(End.tcp(0).address(), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            Channel back = start(group, End.rpma(0), End.tcp(server.getAddress().getPort()));
            Channel forth = start(group, End.tcp(0), End.of(back));
            CommonOptions.print(back);
            String direct = fetch(client, server.getAddress(), "direct");
            String proxied = fetch(client, End.of(forth).address(), "through " + End.of(forth) + " and " + End.of(back));
            if (!direct.equals(proxied)) {
                throw new IOException("directly " + direct + ", and through the proxies " + proxied);
            }
            forth.close().sync();
            back.close().sync();
        } finally {
            server.stop(0);
        }
    }

    /** Sends the requests, prints the rate, and returns the content that was received. */
    private String fetch(HttpClient client, InetSocketAddress server, String how) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
            new URI("http", null, server.getAddress().getHostAddress(), server.getPort(), "/", null, null)).build();
        CRC32C checksum = new CRC32C();
        long bytes = 0;
        long began = System.nanoTime();
        for (int i = 0; i < requests; i++) {
            byte[] body = client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
            checksum.update(body);
            bytes += body.length;
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        String what = String.format("%d requests, %d bytes, checksum=%08x", requests, bytes, checksum.getValue());
        System.out.printf("%s, %.0f/s, %s%n", what, requests / seconds, how);
        return what;
    }

    /**
     * Starts a proxy.
     *
     * @throws IOException if it cannot listen; the message contains the address
     */
    static Channel start(EventLoopGroup group, End from, End to) throws IOException, InterruptedException {
        ChannelFuture listening = new ServerBootstrap()
            .group(group)
            .channel(from.serverChannel())
            // Reading starts when the target is connected. Data that TCP receives is read into registered memory, so that the
            // device can send it without a copy.
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(ChannelOption.ALLOCATOR, RpmaByteBufAllocator.DEFAULT)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel client) {
                    connect(client, to);
                }
            })
            .bind(from.address()).await();
        if (!listening.isSuccess()) {
            throw cannotListen(from, listening.cause());
        }
        return listening.channel();
    }

    private static IOException cannotListen(End from, Throwable failure) {
        if (!(failure instanceof Errors.NativeIoException ofTcp)) {
            // The message of an RPMA channel contains the address and the remedy.
            return new IOException(failure.getMessage(), failure);
        }
        String remedy = switch (-ofTcp.expectedErr()) {
            case EADDRINUSE -> "; 'ss -ltnp' shows who listens there, and port 0 chooses a free port";
            case EADDRNOTAVAIL -> "; 'ip address' shows the addresses of this host";
            case EACCES -> "; ports below 1024 need a privilege, so choose another one";
            default -> "";
        };
        return new IOException("cannot listen at " + from + ": " + failure.getMessage() + remedy, failure);
    }

    private static void connect(SocketChannel client, End to) {
        ChannelFuture connecting = new Bootstrap()
            .group(client.eventLoop())
            .channel(to.channel())
            .option(ChannelOption.AUTO_READ, false)
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .option(ChannelOption.ALLOCATOR, RpmaByteBufAllocator.DEFAULT)
            .handler(new Relay(client, client.newSucceededFuture()))
            .connect(to.address());
        SocketChannel target = (SocketChannel) connecting.channel();
        client.pipeline().addLast(new Relay(target, connecting));
        connecting.addListener(connected -> {
            if (connected.isSuccess()) {
                read(client, true);
                read(target, true);
            } else if (client.isActive()) {
                System.err.println("tcp-proxy: the target " + to + " is down, so the connection from " + client.remoteAddress()
                    + " was closed: " + connected.cause().getMessage());
                client.close();
            }
        });
    }

    private static void read(SocketChannel side, boolean go) {
        // After the end of its input, a channel has nothing to read.
        if (!side.isInputShutdown()) {
            side.config().setAutoRead(go);
        }
    }

    /** Forwards the data that one side of a connection receives, and the end of its input, to the other side. */
    private static final class Relay extends ChannelInboundHandlerAdapter {
        private final SocketChannel other;
        private final ChannelFuture ready;

        Relay(SocketChannel other, ChannelFuture ready) {
            this.other = other;
            this.ready = ready;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object bytes) {
            other.write(bytes, other.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            other.flush();
        }

        /** Stops or resumes reading on the other side, depending on whether this side accepts more data. */
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            read(other, ctx.channel().isWritable());
        }

        /**
         * Shuts down the output of the other side after all earlier data has been sent, because the input of this side has ended.
         */
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                ready.addListener(connected -> other.writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(sent -> other.shutdownOutput().addListener(shut -> {
                        closeIfEnded(other);
                        closeIfEnded((SocketChannel) ctx.channel());
                    })));
            }
        }

        private static void closeIfEnded(SocketChannel side) {
            if (side.isInputShutdown() && side.isOutputShutdown()) {
                side.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }

        /** Closes both sides when a connection breaks. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (other.isOpen()) {
                other.config().setSoLinger(0);
            }
            ctx.close();
            other.close();
        }
    }
}
