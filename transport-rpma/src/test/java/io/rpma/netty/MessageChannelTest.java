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
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.loop.RpmaIoHandle;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests message channels, both between two channels and with a peer that uses {@code io.rpma} directly.
 *
 * <p>Two tags name features that iWARP devices lack, so that {@code testsuite/softroce/verify.sh siw} can exclude these tests:
 * {@code immediate-data}, and {@code acknowledged-receives}, which means that a send completes when a receive of the peer has
 * taken the message, and waits for a receive that is not posted yet.
 */
@Timeout(60)
class MessageChannelTest {
    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        if (channels != null) {
            channels.close();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void connect(Consumer<ServerBootstrap> server, Consumer<Bootstrap> client) throws InterruptedException {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server, client);
    }

    private void connect() throws InterruptedException {
        connect(server -> { }, client -> { });
    }

    private static ByteBuf bytes(int count, int seed) {
        ByteBuf buf = RpmaByteBufAllocator.DEFAULT.buffer(Math.max(1, count));
        for (int i = 0; i < count; i++) {
            buf.writeByte(seed + 11 * i);
        }
        return buf;
    }

    private static void assertBytes(Object message, int count, int seed) {
        ByteBuf buf = assertInstanceOf(ByteBuf.class, message);
        assertEquals(count, buf.readableBytes());
        for (int i = 0; i < count; i++) {
            assertEquals((byte) (seed + 11 * i), buf.getByte(buf.readerIndex() + i), "byte " + i);
        }
        buf.release();
    }

    private static Throwable fails(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(20, TimeUnit.SECONDS));
        assertFalse(future.isSuccess());
        return future.cause();
    }

    private void goesOn() throws Exception {
        channels.client.writeAndFlush(bytes(10, 1)).sync();
        assertBytes(channels.atServer.next(), 10, 1);
        channels.server.writeAndFlush(bytes(10, 2)).sync();
        assertBytes(channels.atClient.next(), 10, 2);
    }

    // ---- messages ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 100, 8191, 8192, 16384})
    void oneBufferIsOneMessage(int size) throws Exception {
        connect();
        channels.client.writeAndFlush(bytes(size, 1)).sync();
        assertBytes(channels.atServer.next(), size, 1);
        channels.server.writeAndFlush(bytes(size, 2)).sync();
        assertBytes(channels.atClient.next(), size, 2);
        assertFalse(channels.atServer.hasRead());
    }

    @Test
    void buffersOfAnyKindAreSent() throws Exception {
        connect();
        CompositeByteBuf composite = Unpooled.compositeBuffer().addComponent(true, bytes(5, 0))
            .addComponent(true, bytes(5, 5 * 11));
        byte[] array = ByteBufUtil.getBytes(composite);
        List<ByteBuf> all = List.of(Unpooled.copiedBuffer(array), Unpooled.directBuffer().writeBytes(array), composite,
            bytes(13, -33).skipBytes(3), bytes(10, 0).asReadOnly());
        for (ByteBuf buf : all) {
            channels.client.writeAndFlush(buf).sync();
            assertBytes(channels.atServer.next(), 10, 0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16384})
    @Tag("immediate-data")
    void immediateDataTravelsBesideTheBytes(int size) throws Exception {
        connect();
        RpmaMessage sent = new RpmaMessage(bytes(size, 3), 0x80000001);
        channels.client.writeAndFlush(sent).sync();
        RpmaMessage received = assertInstanceOf(RpmaMessage.class, channels.atServer.next());
        assertEquals(0x80000001, received.immediate());
        assertBytes(received.content(), size, 3);
    }

    @Test
    @Tag("immediate-data")
    void whatTravelsIsCounted() throws Exception {
        assertEquals(0, new RpmaMessageChannel().counters().messagesSent());
        connect();
        channels.client.write(bytes(10, 1));
        channels.client.writeAndFlush(new RpmaMessage(bytes(16384, 2), 1)).sync();
        assertBytes(channels.atServer.next(), 10, 1);
        ((RpmaMessage) channels.atServer.next()).release();
        RpmaChannelCounters sent = ((RpmaMessageChannel) channels.client).counters();
        RpmaChannelCounters received = ((RpmaMessageChannel) channels.server).counters();
        assertEquals(2, sent.messagesSent());
        assertEquals(16394, sent.bytesSent());
        assertEquals(2, received.messagesReceived());
        assertEquals(16394, received.bytesReceived());
        assertEquals(1, received.receiveCopiesAvoided());
        assertEquals(1, received.receiveCopiesMade());
    }

    /** As many messages are sent at once as the peer has receives, which is more than the send queue holds. */
    @Test
    @Tag("immediate-data")
    void manyMessagesKeepTheirOrder() throws Exception {
        int window = 100;
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, window), client -> { });
        for (int first = 0; first < 30 * window; first += window) {
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = first; i < first + window; i++) {
                futures.add(channels.client.write(i % 3 == 0 ? new RpmaMessage(bytes(i % 100, i), i) : bytes(i % 100, i)));
            }
            channels.client.flush();
            for (int i = first; i < first + window; i++) {
                Object message = channels.atServer.next();
                if (message instanceof RpmaMessage withImmediate) {
                    assertEquals(i, withImmediate.immediate());
                    message = withImmediate.content();
                }
                assertBytes(message, i % 100, i);
            }
            for (ChannelFuture future : futures) {
                future.sync();
            }
        }
    }

    /** No buffer is leaked, regardless of what happens to its message. */
    @Test
    @Tag("immediate-data")
    void buffersAreReleased() throws Exception {
        connect();
        ByteBuf sent = Unpooled.directBuffer().writeInt(1);
        ByteBuf content = Unpooled.buffer().writeInt(2);
        ByteBuf refused = Unpooled.directBuffer(5 << 20).writerIndex(5 << 20);
        channels.client.writeAndFlush(sent).sync();
        channels.client.writeAndFlush(new RpmaMessage(content, 1)).sync();
        fails(channels.client.writeAndFlush(refused));
        channels.client.close().sync();
        ByteBuf late = Unpooled.directBuffer().writeInt(3);
        fails(channels.client.writeAndFlush(late));
        for (ByteBuf buf : List.of(sent, content, refused, late)) {
            assertEquals(0, buf.refCnt());
        }
    }

    /** A listener may write and flush again. */
    @Test
    void aListenerWritesTheNext() throws Exception {
        connect();
        CountDownLatch done = new CountDownLatch(1);
        channels.client.eventLoop().execute(() -> next(channels.client, 200, done));
        for (int i = 200; i > 0; i--) {
            assertBytes(channels.atServer.next(), 4, i);
        }
        assertTrue(done.await(20, TimeUnit.SECONDS));
    }

    private static void next(Channel channel, int left, CountDownLatch done) {
        if (left == 0) {
            done.countDown();
            return;
        }
        channel.writeAndFlush(bytes(4, left)).addListener(future -> {
            assertTrue(future.isSuccess());
            next(channel, left - 1, done);
        });
    }

    /**
     * A message that is cancelled before the flush is not sent. The messages around it are sent once, and their promises
     * complete.
     */
    @Test
    void cancelledMessagesAreNotSent() throws Exception {
        connect();
        for (int round = 0; round < 8; round++) {
            int cancelled = round;
            List<ChannelFuture> futures = new ArrayList<>();
            // This runs on the event loop, because a message that is cancelled on its way to the event loop is never written.
            channels.client.eventLoop().submit(() -> {
                for (int i = 0; i < 3; i++) {
                    ChannelFuture write = channels.client.write(i == 1 ? Unpooled.EMPTY_BUFFER : bytes(4, i));
                    if ((cancelled & 1 << i) != 0) {
                        assertTrue(write.cancel(false));
                    } else {
                        futures.add(write);
                    }
                }
                channels.client.flush();
            }).sync();
            for (ChannelFuture future : futures) {
                assertTrue(future.await(20, TimeUnit.SECONDS), "cancelled: " + cancelled);
                future.sync();
            }
            for (int i = 0; i < 3; i++) {
                if ((cancelled & 1 << i) == 0) {
                    assertBytes(channels.atServer.next(), i == 1 ? 0 : 4, i);
                }
            }
        }
        goesOn();
    }

    @Test
    void otherTypesAreRefused() throws Exception {
        connect();
        Throwable cause = fails(channels.client.writeAndFlush("text"));
        assertInstanceOf(UnsupportedOperationException.class, cause);
        assertTrue(cause.getMessage().contains("RpmaMessage"), cause.getMessage());
        goesOn();
    }

    // ---- sizes and queues ----

    @Test
    void aMessageLongerThanThePeerTakesIsNotPosted() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 100),
            client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 100));
        ChannelFuture before = channels.client.write(bytes(100, 1));
        ChannelFuture tooLong = channels.client.write(bytes(101, 2));
        ChannelFuture withImmediate = channels.client.write(new RpmaMessage(bytes(101, 2), 1));
        channels.client.flush();
        before.sync();
        Throwable cause = fails(tooLong);
        assertInstanceOf(RpmaException.class, cause);
        assertTrue(cause.getMessage().contains("101") && cause.getMessage().contains("100"), cause.getMessage());
        fails(withImmediate);
        assertBytes(channels.atServer.next(), 100, 1);
        goesOn();
    }

    /** Many messages are refused after one message that was posted without requesting a completion. No promise waits forever. */
    @Test
    void manyRefusedMessagesBehindOneThatWasPosted() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 100),
            client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 100));
        ChannelFuture posted = channels.client.write(bytes(100, 1));
        List<ChannelFuture> refused = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            refused.add(channels.client.write(bytes(101, 2)));
        }
        ChannelFuture last = channels.client.write(bytes(100, 3));
        channels.client.flush();
        for (ChannelFuture future : refused) {
            assertInstanceOf(RpmaException.class, fails(future));
        }
        posted.sync();
        last.sync();
        assertBytes(channels.atServer.next(), 100, 1);
        assertBytes(channels.atServer.next(), 100, 3);
        goesOn();
    }

    /** A message that is posted after many refused ones takes the last place for results, and further messages have to wait. */
    @Test
    void aMessageThatTakesTheLastPlaceForResultsRequestsItsCompletion() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 100),
            client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 100)
                .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 64));
        List<ChannelFuture> posted = new ArrayList<>();
        posted.add(channels.client.write(bytes(10, 1)));
        for (int i = 0; i < 62; i++) {
            channels.client.write(bytes(101, 2));
        }
        posted.add(channels.client.write(bytes(10, 3)));
        posted.add(channels.client.write(bytes(10, 4)));
        channels.client.flush();
        for (ChannelFuture future : posted) {
            assertTrue(future.await(20, TimeUnit.SECONDS), "the message was not acknowledged");
            future.sync();
        }
        assertBytes(channels.atServer.next(), 10, 1);
        assertBytes(channels.atServer.next(), 10, 3);
        assertBytes(channels.atServer.next(), 10, 4);
        goesOn();
    }

    /**
     * If the size of the peer's receives is not known, the device detects the error: the promise fails, and the connection closes
     * at both ends.
     */
    @Test
    @Tag("acknowledged-receives")
    void aMessageTooLongForThePeersReceiveEndsTheConnection() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 100), client -> { });
        ChannelFuture before = channels.client.write(bytes(100, 1));
        ChannelFuture tooLong = channels.client.write(bytes(101, 2));
        ChannelFuture after = channels.client.write(bytes(1, 3));
        channels.client.flush();
        before.sync();
        RpmaCompletionException cause = assertInstanceOf(RpmaCompletionException.class, fails(tooLong));
        assertTrue(cause.getMessage().contains("RPMA_PEER_RECEIVE_BUFFER_BYTES"), cause.getMessage());
        fails(after);
        assertBytes(channels.atServer.next(), 100, 1);
        assertTrue(channels.atServer.failure().getMessage().contains("RPMA_RECEIVE_BUFFER_BYTES"));
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
    }

    @Test
    void aBufferThatCannotBeRegisteredIsRefused() throws Exception {
        connect();
        int bytes = RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY + 1;
        ByteBuf buf = Unpooled.directBuffer(bytes).writerIndex(bytes);
        assertInstanceOf(RpmaException.class, fails(channels.client.writeAndFlush(buf)));
        assertEquals(0, buf.refCnt());
        goesOn();
    }

    @Test
    @Tag("acknowledged-receives")
    void queuesOfOneSlotWork() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1)
                .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 1),
            client -> client.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1)
                .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 1));
        for (int i = 0; i < 4; i++) {
            channels.client.write(bytes(i, i));
            channels.server.write(bytes(i, -i));
        }
        channels.client.flush();
        channels.server.flush();
        for (int i = 0; i < 4; i++) {
            assertBytes(channels.atServer.next(), i, i);
            assertBytes(channels.atClient.next(), i, -i);
        }
    }

    @Test
    void badOptionsAreRefused() {
        RpmaMessageChannelConfig config = new RpmaMessageChannel().config();
        assertThrows(IllegalArgumentException.class,
            () -> config.setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 0));
        assertThrows(IllegalArgumentException.class,
            () -> config.setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, (4 << 20) + 1));
        assertThrows(IllegalArgumentException.class, () -> config.setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 0));
        assertThrows(IllegalArgumentException.class, () -> config.setOption(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 0));
        assertThrows(IllegalArgumentException.class,
            () -> config.setOption(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, -1));
        IllegalArgumentException tooLong = assertThrows(IllegalArgumentException.class,
            () -> config.setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(57)));
        assertTrue(tooLong.getMessage().contains("57 bytes") && tooLong.getMessage().contains("56"), tooLong.getMessage());
        assertThrows(IllegalArgumentException.class, () -> new RpmaMessageServerChannel().config()
            .setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(197)));
        assertTrue(config.setOption(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 7));
        assertEquals(7, config.getOptions().get(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE));
        assertEquals(-1, config.getOption(ChannelOption.SO_LINGER));
    }

    /** If the device does not support the sizes, the connect or the bind fails with the reason. */
    @Test
    void queuesLargerThanTheDeviceOffersAreRefused() {
        ChannelFuture bind = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_SEND_QUEUE_SIZE, 1 << 20).childHandler(new ChannelInboundHandlerAdapter())
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).awaitUninterruptibly();
        assertFalse(bind.isSuccess());
        assertTrue(bind.cause().getMessage().contains("RPMA_SEND_QUEUE_SIZE"), bind.cause().toString());
    }

    // ---- private data ----

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(ByteBuffer padded) {
        return StandardCharsets.UTF_8.decode(padded).toString().replace("\0", "");
    }

    @Test
    void privateDataIsThereWithTheChannel() throws Exception {
        BlockingQueue<String> atActive = new LinkedBlockingQueue<>();
        ChannelInboundHandlerAdapter asking = new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                atActive.add(text(((RpmaMessageChannel) ctx.channel()).peerPrivateData()));
            }
        };
        Channel listener = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA, text("from the server")).childHandler(asking)
            .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        Bootstrap client = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(asking)
            .option(RpmaChannelOption.RPMA_PRIVATE_DATA, text("from the client"));
        Channel connected = client.connect(listener.localAddress()).sync().channel();
        List<String> first = List.of(atActive.poll(20, TimeUnit.SECONDS), atActive.poll(20, TimeUnit.SECONDS));
        assertTrue(first.containsAll(List.of("from the server", "from the client")), first.toString());
        connected.close().sync();
        // The option is set again for the following connections. It may also have no value.
        listener.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, text("something else"));
        client.option(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(0)).connect(listener.localAddress()).sync();
        List<String> second = List.of(atActive.poll(20, TimeUnit.SECONDS), atActive.poll(20, TimeUnit.SECONDS));
        assertTrue(second.containsAll(List.of("something else", "")), second.toString());
        assertEquals("", text(new RpmaMessageChannel().peerPrivateData()));
    }

    // ---- reading ----

    /**
     * If the application does not read, the peer can only use the posted receives. No message is lost, and no messages
     * accumulate.
     */
    @Test
    @Tag("acknowledged-receives")
    void anApplicationThatDoesNotReadStopsThePeer() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 4).childOption(ChannelOption.AUTO_READ, false),
            client -> { });
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            futures.add(channels.client.writeAndFlush(bytes(4, i)));
        }
        for (int i = 0; i < 4; i++) {
            futures.get(i).sync();
        }
        assertFalse(futures.get(4).isDone());
        assertFalse(channels.atServer.hasRead());
        channels.server.read();
        assertBytes(channels.atServer.next(), 4, 0);
        futures.get(4).sync();
        assertFalse(channels.atServer.hasRead());
        channels.server.config().setAutoRead(true);
        for (int i = 1; i < 10; i++) {
            assertBytes(channels.atServer.next(), 4, i);
        }
        futures.get(9).sync();
    }

    /** A message that cannot be read is lost, so the channel closes. Its receive, which is shared with others, is not lost. */
    @Test
    void aMessageThatThereIsNoMemoryForEndsTheChannel() throws Exception {
        RpmaSharedReceiveQueue one = new RpmaSharedReceiveQueue(1, 100);
        ByteBufAllocator poor = new AbstractByteBufAllocator(true) {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                throw new OutOfMemoryError("thrown on purpose");
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                throw new OutOfMemoryError("thrown on purpose");
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        };
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, one).childOption(ChannelOption.ALLOCATOR, poor),
            client -> { });
        Channel other = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(new ConnectedChannels.End())
            .connect(channels.listener.localAddress()).sync().channel();
        channels.atServer.accepted().config().setAllocator(UnpooledByteBufAllocator.DEFAULT);
        channels.client.writeAndFlush(bytes(4, 1)).sync();
        assertInstanceOf(OutOfMemoryError.class, channels.atServer.failure());
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
        other.writeAndFlush(bytes(4, 2)).sync();
        assertBytes(channels.atServer.next(), 4, 2);
        other.close().sync();
        one.release();
    }

    // ---- the end ----

    /** The completion is polled together with the end of the connection, and not earlier. */
    @Test
    void aMessageThatWasDeliveredBeforeThePeerWentHasSucceeded() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
                .handler(new ConnectedChannels.End()).connect(peer.listen());
            peer.accept(null);
            Channel channel = connect.sync().channel();
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            ChannelFuture written = channel.eventLoop().submit(() -> {
                ChannelFuture write = channel.writeAndFlush(bytes(4, 1));
                channel.close();
                // The loop waits as long as the peer needs.
                peer.receive();
                peer.disconnect();
                ((RpmaIoHandle) channel.unsafe()).eventsReady();
                return write;
            }).get();
            assertTrue(channel.closeFuture().await(20, TimeUnit.SECONDS));
            written.sync();
        }
    }

    /** Messages that were written before the close are delivered, and their promises succeed. */
    @Test
    void closingDelivers() throws Exception {
        connect();
        List<ChannelFuture> futures = new ArrayList<>();
        channels.client.eventLoop().submit(() -> {
            for (int i = 0; i < 10; i++) {
                futures.add(channels.client.writeAndFlush(bytes(4, i)));
            }
            channels.client.close();
        }).sync();
        for (int i = 0; i < 10; i++) {
            assertBytes(channels.atServer.next(), 4, i);
            futures.get(i).sync();
        }
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
    }

    @Test
    void aMessageWhosePromiseClosesTheChannelArrives() throws Exception {
        connect();
        channels.client.writeAndFlush(bytes(4, 1)).addListener(ChannelFutureListener.CLOSE);
        assertBytes(channels.atServer.next(), 4, 1);
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The close does not wait if nothing is outstanding, regardless of what was refused before. */
    @Test
    void aListenerOfARefusedMessageCloses() throws Exception {
        connect(server -> { }, client -> client.option(RpmaChannelOption.RPMA_PEER_RECEIVE_BUFFER_BYTES, 10)
            .option(ChannelOption.SO_LINGER, 1000));
        ChannelFuture first = channels.client.write(bytes(11, 1)).addListener(ChannelFutureListener.CLOSE);
        ChannelFuture second = channels.client.write(bytes(11, 2));
        channels.client.flush();
        assertInstanceOf(RpmaException.class, fails(first));
        fails(second);
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
    }

    /** The close waits only for a limited time for a peer that accepts nothing any more. */
    @Test
    @Tag("acknowledged-receives")
    void closingIsBounded() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false),
            client -> client.option(ChannelOption.SO_LINGER, 1));
        ChannelFuture arrived = channels.client.writeAndFlush(bytes(4, 1)).sync();
        ChannelFuture stalled = channels.client.writeAndFlush(bytes(4, 2));
        channels.client.close();
        assertInstanceOf(ClosedChannelException.class, fails(stalled));
        assertTrue(arrived.isSuccess());
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        // Messages that had arrived are read before the end is reported.
        assertBytes(channels.atServer.next(), 4, 1);
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
    }

    @Test
    @Tag("acknowledged-receives")
    void theEndOfTheLoopFailsWhatIsUnderWay() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false),
            client -> { });
        channels.client.writeAndFlush(bytes(4, 1)).sync();
        ChannelFuture stalled = channels.client.writeAndFlush(bytes(4, 2));
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        channels = null;
        assertTrue(stalled.isDone());
        assertFalse(stalled.isSuccess());
    }

    @Test
    void nobodyListens() throws Exception {
        Channel listener = new ServerBootstrap().group(group).channel(RpmaMessageServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync()
            .channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        listener.close().sync();
        ChannelFuture connect = new Bootstrap().group(group).channel(RpmaMessageChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(address).await();
        assertInstanceOf(ConnectException.class, connect.cause());
    }

    // ---- with a peer that uses io.rpma directly ----

    @Test
    @Tag("immediate-data")
    void aRawClientIsServed() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_PRIVATE_DATA, text("hello")), client -> { });
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED,
                peer.connect((InetSocketAddress) channels.listener.localAddress(), text("hi")));
            assertEquals("hello", text(peer.peerData()));
            RpmaMessageChannel served = (RpmaMessageChannel) channels.atServer.accepted();
            assertEquals("hi", text(served.peerPrivateData()));
            peer.send(8, 1234);
            RpmaMessage message = assertInstanceOf(RpmaMessage.class, channels.atServer.next());
            assertEquals(1234, message.immediate());
            assertEquals(8, message.content().readableBytes());
            message.release();
            peer.sendPlain(8);
            ByteBuf plain = assertInstanceOf(ByteBuf.class, channels.atServer.next());
            assertEquals(8, plain.readableBytes());
            plain.release();
            served.writeAndFlush(new RpmaMessage(bytes(8, 1), 77)).sync();
            assertEquals(77, peer.receive());
            RpmaRemoteRegion memory = RpmaRemoteRegion.open(peer.descriptor());
            served.writeAndFlush(RpmaOperation.writeWithImmediate(bytes(8, 1), memory, 0, 78)).sync();
            assertEquals(78, peer.receive());
            memory.release();
            peer.disconnect();
            assertTrue(served.closeFuture().await(20, TimeUnit.SECONDS));
        }
        goesOn();
    }

    @Test
    @Tag("immediate-data")
    void aRawServerServes() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            InetSocketAddress address = peer.listen();
            ConnectedChannels.End end = new ConnectedChannels.End();
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaMessageChannel.class).handler(end)
                .option(RpmaChannelOption.RPMA_PRIVATE_DATA, text("hi")).connect(address);
            peer.accept(text("hello"));
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            RpmaMessageChannel channel = (RpmaMessageChannel) connect.sync().channel();
            assertEquals("hello", text(channel.peerPrivateData()));
            assertEquals("hi", text(peer.peerData()));
            channel.writeAndFlush(new RpmaMessage(Unpooled.EMPTY_BUFFER, -5)).sync();
            assertEquals(-5, peer.receive());
            peer.send(0, 6);
            assertEquals(6, assertInstanceOf(RpmaMessage.class, end.next()).immediate());
            peer.disconnect();
            assertTrue(channel.closeFuture().await(20, TimeUnit.SECONDS));
        }
    }

    /**
     * If a peer disconnects in the middle, the outstanding messages fail with the reason. No exception is fired without an error.
     */
    @Test
    @Tag("acknowledged-receives")
    void aPeerThatDisconnectsFailsWhatIsUnderWay() throws Exception {
        connect(server -> server.option(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1).childOption(ChannelOption.AUTO_READ, false),
            client -> { });
        channels.client.writeAndFlush(bytes(4, 1)).sync();
        ChannelFuture stalled = channels.client.writeAndFlush(bytes(4, 2));
        ChannelFuture behind = channels.client.writeAndFlush(bytes(4, 3));
        channels.server.close().sync();
        Throwable cause = fails(stalled);
        assertInstanceOf(IOException.class, cause);
        assertNotNull(cause.getMessage());
        assertEquals(cause.getMessage(), fails(behind).getMessage());
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        assertEquals(List.of(), channels.atClient.allFailures());
    }

    /**
     * The disconnect is handled together with the completion of a message whose listener writes another one. That write fails.
     * Without AUTO_CLOSE, the failure of a write does not close a channel, but the end of the connection does.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aListenerThatWritesAtTheEndOfTheConnectionDoesNotKeepTheChannelOpen(boolean autoClose) throws Exception {
        RpmaEventLoopGroup peers = new RpmaEventLoopGroup(1);
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch inactive = new CountDownLatch(1);
        try {
            Channel server = new ServerBootstrap().group(peers).channel(RpmaMessageServerChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ((ByteBuf) msg).release();
                        ctx.close().addListener(done -> closed.countDown());
                    }
                }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
            RpmaMessageChannel client = (RpmaMessageChannel) new Bootstrap().group(group).channel(RpmaMessageChannel.class)
                .option(ChannelOption.AUTO_CLOSE, autoClose)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        inactive.countDown();
                    }
                }).connect(server.localAddress()).sync().channel();
            BlockingQueue<Future<?>> second = new LinkedBlockingQueue<>();
            client.eventLoop().submit(() -> {
                client.writeAndFlush(bytes(10, 1))
                    .addListener(sent -> client.writeAndFlush(bytes(10, 2)).addListener(second::add));
                assertTrue(closed.await(20, TimeUnit.SECONDS));
                client.pair().drainEvents();
                return null;
            }).sync();
            assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS), "the channel stays open");
            assertTrue(inactive.await(20, TimeUnit.SECONDS), "the pipeline is not notified");
            assertInstanceOf(IOException.class, second.poll(20, TimeUnit.SECONDS).cause());
        } finally {
            peers.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
