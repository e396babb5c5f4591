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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.rpma.netty.RpmaChannel;
import io.rpma.netty.RpmaEventLoopGroup;
import io.rpma.netty.RpmaServerChannel;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** An HTTP/1.1 file server on RPMA channels. It sends whole files, or single ranges of them, as file regions of Netty. */
@Command(name = "file-server", description = "An HTTP/1.1 server of files, whole or a range, by file regions")
final class FileServerExample implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private CommonOptions common;

    @Option(names = "--bytes", paramLabel = "SIZE", defaultValue = "64MiB",
        description = "size of the file to serve and to fetch (default: ${DEFAULT-VALUE})")
    private ByteSize bytes;

    @Option(names = "--serve", paramLabel = "DIRECTORY",
        description = "only serve what is in there, until interrupted; tcp-proxy lets curl fetch it")
    private Path directory;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "0", description = "the server's port (default: any free one)")
    private int port;

    @Override
    public Integer call() throws Exception {
        if (port < 0 || port > 65535) {
            throw new ParameterException(spec.commandLine(), "--port " + port + ": from 1 to 65535, or 0 for any free one");
        }
        if (directory != null && !Files.isDirectory(directory)) {
            throw new ParameterException(spec.commandLine(), "--serve " + directory + ": there is no such directory");
        }
        EventLoopGroup group = new RpmaEventLoopGroup(2);
        try {
            if (directory != null) {
                Channel server = startServer(group, new InetSocketAddress("127.0.0.1", port), directory);
                System.out.println(ServerProcess.LISTENING + server.localAddress().toString().substring(1));
                server.closeFuture().sync();
            } else {
                Path served = Files.createTempDirectory("file-server");
                try {
                    serveAndFetch(group, served);
                } finally {
                    Files.deleteIfExists(served.resolve("file"));
                    Files.delete(served);
                }
            }
        } finally {
            group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
        }
        return 0;
    }

    private void serveAndFetch(EventLoopGroup group, Path served) throws Exception {
        long checksum = writeRandom(served.resolve("file"), bytes.bytes());
        Channel server = startServer(group, new InetSocketAddress("127.0.0.1", port), served);
        Client client = new Client();
        Channel connection = connect(group, (InetSocketAddress) server.localAddress(), client);
        CommonOptions.print(connection);
        long began = System.nanoTime();
        Download whole = client.fetch("/file", null).get(10, TimeUnit.MINUTES);
        double seconds = (System.nanoTime() - began) / 1e9;
        boolean match = whole.bytes == bytes.bytes() && whole.checksum() == checksum;
        System.out.println("fetched=" + whole.bytes + " bytes");
        System.out.printf("checksum=%08x %s%n", whole.checksum(), match ? "match" : "MISMATCH");
        System.out.println("throughput=" + ByteSize.mebibytes((long) (whole.bytes / seconds)) + "/s");
        Download range = client.fetch("/file", "bytes=-1").get(1, TimeUnit.MINUTES);
        System.out.println("range=" + range.bytes + " byte, " + range.status);
        if (!match || range.bytes != 1) {
            throw new IOException("what was fetched is not what the file holds");
        }
        connection.close().sync();
        server.close().sync();
    }

    /** Fills a file with random data, and returns its checksum. */
    static long writeRandom(Path file, long bytes) throws IOException {
        CRC32C checksum = new CRC32C();
        Random random = new Random(1);
        byte[] part = new byte[1 << 16];
        try (OutputStream out = new CheckedOutputStream(Files.newOutputStream(file), checksum)) {
            for (long left = bytes; left > 0; left -= part.length) {
                random.nextBytes(part);
                out.write(part, 0, (int) Math.min(left, part.length));
            }
        }
        return checksum.getValue();
    }

    static Channel startServer(EventLoopGroup group, InetSocketAddress address, Path directory) throws Exception {
        Path root = directory.toRealPath();
        return new ServerBootstrap()
            .group(group)
            .channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new Server(root));
                }
            })
            .bind(address).sync().channel();
    }

    static Channel connect(EventLoopGroup group, InetSocketAddress server, Client client) throws InterruptedException {
        return new Bootstrap()
            .group(group)
            .channel(RpmaChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel connection) {
                    connection.pipeline().addLast(new HttpClientCodec(), client);
                }
            })
            .connect(server).sync().channel();
    }

    /** Answers GET and HEAD requests with a file, or with the single range of it that the client requested. */
    private static final class Server extends SimpleChannelInboundHandler<FullHttpRequest> {
        private static final Pattern RANGE = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

        private final Path root;

        Server(Path root) {
            this.root = root;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) throws IOException {
            String name = name(request);
            Path path = name == null ? null : file(name);
            if (name == null) {
                refuse(ctx, request, HttpResponseStatus.BAD_REQUEST);
            } else if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
                refuse(ctx, request, HttpResponseStatus.METHOD_NOT_ALLOWED);
            } else if (path == null) {
                refuse(ctx, request, HttpResponseStatus.NOT_FOUND);
            } else {
                send(ctx, request, FileChannel.open(path));
            }
        }

        /** Returns the decoded path of the request, or {@code null} if the request or an escape sequence in it is malformed. */
        private static String name(FullHttpRequest request) {
            if (!request.decoderResult().isSuccess()) {
                return null;
            }
            try {
                return new QueryStringDecoder(request.uri()).path();
            } catch (IllegalArgumentException e) {
                return null;
            }
        }

        /**
         * Returns the file with this name below the root, or {@code null} if there is none. The name comes from the client and
         * must not be trusted.
         */
        private Path file(String name) {
            try {
                Path file = root.resolve(name.replaceFirst("^/+", "")).toRealPath();
                return file.startsWith(root) && Files.isRegularFile(file) && Files.isReadable(file) ? file : null;
            } catch (IOException | InvalidPathException e) {
                return null;
            }
        }

        private static void send(ChannelHandlerContext ctx, FullHttpRequest request, FileChannel file) throws IOException {
            long size = file.size();
            long from = 0;
            long to = size;
            HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            Matcher range = RANGE.matcher(request.headers().get(HttpHeaderNames.RANGE, ""));
            if (range.matches() && !range.group().equals("bytes=-")) {
                boolean suffix = range.group(1).isEmpty();
                from = suffix ? Math.max(0, size - Long.parseLong(range.group(2))) : Long.parseLong(range.group(1));
                to = suffix || range.group(2).isEmpty() ? size : Math.min(size, Long.parseLong(range.group(2)) + 1);
                if (from >= to) {
                    file.close();
                    refuse(ctx, request, HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE);
                    return;
                }
                head.setStatus(HttpResponseStatus.PARTIAL_CONTENT);
                head.headers().set(HttpHeaderNames.CONTENT_RANGE, "bytes " + from + "-" + (to - 1) + "/" + size);
            }
            HttpUtil.setContentLength(head, to - from);
            head.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM);
            head.headers().set(HttpHeaderNames.ACCEPT_RANGES, HttpHeaderValues.BYTES);
            ctx.write(head);
            if (request.method().equals(HttpMethod.HEAD)) {
                file.close();
            } else {
                // The region closes the file when it has been sent.
                ctx.write(new DefaultFileRegion(file, from, to - from));
            }
            end(ctx, request, head, LastHttpContent.EMPTY_LAST_CONTENT);
        }

        private static void refuse(ChannelHandlerContext ctx, FullHttpRequest request, HttpResponseStatus status) {
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status);
            HttpUtil.setContentLength(response, 0);
            end(ctx, request, response, response);
        }

        private static void end(ChannelHandlerContext ctx, FullHttpRequest request, HttpResponse head, Object last) {
            boolean keepAlive = HttpUtil.isKeepAlive(request);
            HttpUtil.setKeepAlive(head, keepAlive);
            ctx.writeAndFlush(last).addListener(keepAlive ? ChannelFutureListener.CLOSE_ON_FAILURE : ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("file server: the connection from " + ctx.channel().remoteAddress() + " failed: " + cause);
            ctx.close();
        }
    }

    /** The result of a request. */
    static final class Download extends CompletableFuture<Download> {
        final CRC32C crc = new CRC32C();
        HttpResponseStatus status;
        long bytes;

        long checksum() {
            return crc.getValue();
        }
    }

    /** Downloads files, and computes their checksums without keeping the content. */
    static final class Client extends SimpleChannelInboundHandler<HttpObject> {
        private final Queue<Download> unanswered = new ArrayDeque<>();
        private ChannelHandlerContext context;

        /** Requests a file, or a range of it in the syntax of HTTP. Any thread may call this method. */
        CompletableFuture<Download> fetch(String path, String range) {
            FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
            request.headers().set(HttpHeaderNames.HOST, "localhost");
            if (range != null) {
                request.headers().set(HttpHeaderNames.RANGE, range);
            }
            Download download = new Download();
            context.executor().execute(() -> unanswered.add(download));
            context.writeAndFlush(request).addListener(written -> {
                if (!written.isSuccess()) {
                    download.completeExceptionally(written.cause());
                }
            });
            return download;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) {
            Download download = unanswered.element();
            if (part instanceof HttpResponse head) {
                download.status = head.status();
            }
            if (part instanceof HttpContent content) {
                download.bytes += content.content().readableBytes();
                download.crc.update(content.content().nioBuffer());
            }
            if (part instanceof LastHttpContent) {
                unanswered.remove().complete(download);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            unanswered.forEach(download -> download.completeExceptionally(new ClosedChannelException()));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            unanswered.forEach(download -> download.completeExceptionally(cause));
            ctx.close();
        }
    }
}
