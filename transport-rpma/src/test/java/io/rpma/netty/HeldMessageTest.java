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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.IllegalReferenceCountException;
import io.rpma.MemoryUsage;
import io.rpma.netty.ConnectedChannels.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests messages that are held back while the promises of their data succeed, because the application may then write more. What a
 * listener of such a promise does must take effect after the data, and the data must never be lost.
 */
@Timeout(60)
class HeldMessageTest {
    private static final int BUFFER = 1024;
    /** So many buffers exceed the high water mark, and are held back. */
    private static final int FIRST = 40;

    private RpmaEventLoopGroup servers;
    private RpmaEventLoopGroup clients;
    private ConnectedChannels channels;
    private RpmaChannel client;
    private final Receiver receiver = new Receiver();
    // The number of bytes that have been written to the stream.
    private int written;

    /** Checks that the bytes are those that were written, in their order, and records the end. */
    private static final class Receiver extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Integer> ended = new CompletableFuture<>();
        private final CompletableFuture<Integer> shutDown = new CompletableFuture<>();
        private int wanted;
        private CompletableFuture<Void> complete;
        private int received;
        // The first byte that is not the one that was written, or null.
        private volatile String wrong;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            while (buf.isReadable()) {
                byte next = buf.readByte();
                if (next != at(received++) && wrong == null) {
                    wrong = "byte " + (received - 1) + " is " + next;
                }
            }
            buf.release();
            if (complete != null && received >= wanted) {
                complete.complete(null);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                shutDown.complete(received);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ended.complete(received);
        }

        /** Waits until this many bytes have been received, and no more. */
        void await(Channel channel, int bytes) throws Exception {
            CompletableFuture<Void> done = new CompletableFuture<>();
            channel.eventLoop().execute(() -> {
                wanted = bytes;
                complete = done;
                if (received >= wanted) {
                    done.complete(null);
                }
            });
            done.get(20, TimeUnit.SECONDS);
            assertEquals(bytes, channel.eventLoop().submit(() -> received).get());
        }
    }

    private static byte at(int position) {
        return (byte) (position / 7);
    }

    @BeforeEach
    void connect() throws Exception {
        servers = new RpmaEventLoopGroup(1);
        clients = new RpmaEventLoopGroup(1);
        channels = new ConnectedChannels(servers, clients, Kind.STREAM,
            server -> server.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true),
            client -> client.option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(8 << 10, 32 << 10)));
        // On the event loop: a handler that another thread adds may miss what is read before the loop has run its task.
        channels.server.eventLoop().submit(() -> channels.server.pipeline().addFirst(receiver)).sync();
        client = (RpmaChannel) channels.client;
    }

    @AfterEach
    void disconnect() {
        channels.close();
        clients.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        servers.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        assertNull(receiver.wrong, "the data");
    }

    private ByteBuf next(int bytes) {
        ByteBuf buf = client.alloc().directBuffer(bytes, bytes);
        for (int i = 0; i < bytes; i++) {
            buf.writeByte(at(written++));
        }
        return buf;
    }

    /** Writes more than the high water mark, and lets a listener of the first promise act. Returns the last of these writes. */
    private ChannelFuture write(Consumer<ChannelFuture> listener) throws Exception {
        return client.eventLoop().submit(() -> {
            AtomicLong sent = new AtomicLong(-1);
            client.write(next(BUFFER)).addListener((ChannelFuture future) -> {
                sent.set(client.counters().messagesSent());
                listener.accept(future);
            });
            ChannelFuture last = null;
            for (int i = 1; i < FIRST; i++) {
                last = client.write(next(BUFFER));
            }
            assertFalse(client.isWritable());
            client.flush();
            assertEquals(0, sent.get(), "messages had been sent when the first promise succeeded");
            return last;
        }).get();
    }

    private long messages() throws Exception {
        return client.eventLoop().submit(() -> client.counters().messagesSent()).get();
    }

    @Test
    void isSentWithoutFurtherData() throws Exception {
        write(future -> { }).sync();
        receiver.await(channels.server, FIRST * BUFFER);
        assertEquals(1, messages());
    }

    @Test
    void takesWhatAListenerWrites() throws Exception {
        write(future -> client.writeAndFlush(next(BUFFER)));
        receiver.await(channels.server, (FIRST + 1) * BUFFER);
        assertEquals(1, messages(), "messages");
    }

    @Test
    void isFilledByAnApplicationThatWritesWheneverTheChannelIsWritable() throws Exception {
        int total = 8 << 20;
        ChannelInboundHandlerAdapter writer = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                while (written < total && client.isWritable()) {
                    client.write(next(BUFFER));
                }
                client.flush();
            }
        };
        client.eventLoop().submit(() -> {
            client.config().setWriteBufferWaterMark(new WriteBufferWaterMark(32 << 10, 64 << 10));
            client.pipeline().addFirst(writer);
            writer.channelWritabilityChanged(null);
            return null;
        }).get();
        receiver.await(channels.server, total);
        long average = total / messages();
        assertTrue(average >= 48 << 10, () -> "the average message has " + average + " bytes");
    }

    @Test
    void isSentBeforeABufferThatIsSentFromWhereItLies() throws Exception {
        write(future -> client.writeAndFlush(next(32 << 10)));
        receiver.await(channels.server, FIRST * BUFFER + (32 << 10));
        assertEquals(2, messages());
    }

    @Test
    void isSentBeforeAFile(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("data");
        write(future -> {
            try {
                ByteBuf data = next(3 * BUFFER);
                byte[] bytes = new byte[data.readableBytes()];
                data.readBytes(bytes).release();
                Files.write(file, bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            client.writeAndFlush(new DefaultFileRegion(file.toFile(), 0, 3 * BUFFER));
        });
        receiver.await(channels.server, (FIRST + 3) * BUFFER);
    }

    @Test
    void isSentBeforeAnOperation() throws Exception {
        RpmaRegion there = RpmaRegion.allocate(BUFFER, MemoryUsage.WRITE_DST);
        RpmaRegion here = RpmaRegion.allocate(BUFFER, MemoryUsage.WRITE_SRC);
        RpmaRemoteRegion remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        CompletableFuture<ChannelFuture> operation = new CompletableFuture<>();
        write(future -> operation.complete(client.writeAndFlush(RpmaOperation.write(here, 0, BUFFER, remote, 0))));
        operation.get().sync();
        receiver.await(channels.server, FIRST * BUFFER);
        remote.release();
        here.release();
        there.release();
    }

    @Test
    void arrivesBeforeTheEndOfTheStream() throws Exception {
        write(future -> ((DuplexChannel) client).shutdownOutput());
        assertEquals(FIRST * BUFFER, receiver.shutDown.get(20, TimeUnit.SECONDS));
    }

    @Test
    void arrivesAlthoughAListenerClosesTheChannel() throws Exception {
        write(future -> client.close());
        client.closeFuture().sync();
        assertEquals(FIRST * BUFFER, receiver.shutDown.get(20, TimeUnit.SECONDS));
    }

    @Test
    void doesNotKeepAConnectionThatAListenerAborts() throws Exception {
        write(future -> {
            client.config().setOption(ChannelOption.SO_LINGER, 0);
            client.close();
        });
        client.closeFuture().sync();
        assertTrue(receiver.ended.get(20, TimeUnit.SECONDS) <= FIRST * BUFFER);
    }

    @Test
    void arrivesAlthoughTheNextBufferCannotBeRead() throws Exception {
        CompletableFuture<ChannelFuture> unreadable = new CompletableFuture<>();
        write(future -> {
            ByteBuf buf = client.alloc().directBuffer(BUFFER).writeZero(BUFFER);
            unreadable.complete(client.write(buf));
            buf.release();
            client.flush();
        }).sync();
        Throwable cause = unreadable.get().await().cause();
        assertNotNull(cause);
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        assertInstanceOf(IllegalReferenceCountException.class, cause);
        assertEquals(FIRST * BUFFER, receiver.shutDown.get(20, TimeUnit.SECONDS));
    }
}
