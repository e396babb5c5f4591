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

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.rpma.ConnectionEvent;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import io.rpma.posix.Memory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests streams whose 32 bits travel in front of each message, because one or both of the ends have no immediate data. */
@Timeout(60)
class PrefixTest {
    private static final int LONGEST = 16 << 10;
    private static final int IN_FRONT = 0xcafebabe;

    private RpmaEventLoopGroup group;
    private ConnectedChannels.End atServer;
    private Channel server;

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        atServer = new ConnectedChannels.End();
        server = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(atServer);
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static ByteBuffer handshake(int minor, boolean prefixed) {
        return new Handshake(minor, 0, LONGEST, 16, 1 << 20, prefixed, ByteBuffer.allocate(0)).encode();
    }

    private void serverReads(byte[] expected) throws InterruptedException {
        byte[] got = new byte[expected.length];
        for (int n = 0; n < got.length;) {
            ByteBuf buf = assertInstanceOf(ByteBuf.class, atServer.next());
            int bytes = buf.readableBytes();
            buf.readBytes(got, n, bytes);
            buf.release();
            n += bytes;
        }
        assertArrayEquals(expected, got);
    }

    /** A client that has no immediate data determines the form of messages for both ends, whatever the server has. */
    @Test
    void aClientWithoutImmediateDataIsServed() throws Exception {
        try (RawPeer peer = new RawPeer().prefixed()) {
            assertEquals(ConnectionEvent.ESTABLISHED,
                peer.connect((InetSocketAddress) server.localAddress(), handshake(Handshake.MINOR, true)));
            assertTrue(Handshake.decode(peer.peerData()).prefixed());
            byte[] said = {1, 2, 3};
            peer.send(said, Immediate.of(Immediate.DATA, 0));
            serverReads(said);
            Channel child = atServer.accepted();
            child.writeAndFlush(Unpooled.copyInt(0x01020304)).sync();
            assertEquals(Immediate.DATA, Immediate.kind(peer.receive()));
            assertEquals(Integer.BYTES, peer.receivedBytes());
            assertArrayEquals(new byte[] {1, 2, 3, 4}, peer.received(Integer.BYTES));
            ChannelFuture closed = child.close();
            // receive() confirms the end of the stream.
            assertEquals(Immediate.FIN, Immediate.kind(peer.receive()));
            assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
            closed.sync();
            assertEquals(List.of(), atServer.allFailures());
        }
    }

    /** A server that has no immediate data determines the form of messages for both ends, whatever the client has. */
    @Test
    void aServerWithoutImmediateDataIsUnderstood() throws Exception {
        try (RawPeer peer = new RawPeer().prefixed()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(handshake(Handshake.MINOR, true));
            Channel client = connect.sync().channel();
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            // The buffer is one byte longer than what fits into a message with the 32 bits.
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[LONGEST - Integer.BYTES + 1])).sync();
            peer.receive();
            assertEquals(LONGEST - Integer.BYTES, peer.receivedBytes());
            peer.receive();
            assertEquals(1, peer.receivedBytes());
        }
    }

    /** The peer's confirmation of the end arrives at the loop on which the channel has been closed, which must find it. */
    @Test
    void theEndOfAChannelThatNoLoopHasIsConfirmed() throws Exception {
        try (RawPeer peer = new RawPeer().prefixed()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .option(ChannelOption.SO_LINGER, 1_000).handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(handshake(Handshake.MINOR, true));
            Channel client = connect.sync().channel();
            assertEquals(ConnectionEvent.ESTABLISHED, peer.nextEvent());
            client.deregister().sync();
            client.close().sync();
            // receive() confirms the end of the stream.
            assertEquals(Immediate.FIN, Immediate.kind(peer.receive()));
            assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
        }
    }

    /** Ends of older versions ignore the flag that announces a prefix, so the flag means nothing in their handshakes. */
    @Test
    void anOlderClientAnnouncesNothing() throws Exception {
        assertFalse(Handshake.decode(handshake(2, true)).prefixed());
        assertTrue(Handshake.decode(handshake(Handshake.MINOR, true)).prefixed());
        assertFalse(Handshake.decode(handshake(Handshake.MINOR, false)).prefixed());
    }

    /**
     * A server that has no immediate data cannot serve a client of version 1.2 or older, which knows no prefix. The client is
     * told.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void anOlderClientIsRefusedWhereThereIsNoImmediateData(int minor) throws Exception {
        assumeTrue(RawPeer.isPrefixed(), "the device has immediate data");
        long refused = RpmaMetrics.accepts().refused();
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED,
                peer.connect((InetSocketAddress) server.localAddress(), handshake(minor, false)));
            assertEquals(refused + 1, RpmaMetrics.accepts().refused());
            assertEquals(Handshake.REFUSED_VERSION, Handshake.decode(peer.peerData()).status());
            assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
        }
        aClientWithoutImmediateDataIsServed();
    }

    @Test
    void anOlderServerIsRefusedWhereThereIsNoImmediateData() throws Exception {
        assumeTrue(RawPeer.isPrefixed(), "the device has immediate data");
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(handshake(2, false));
            assertTrue(connect.await(20, TimeUnit.SECONDS));
            assertTrue(connect.cause().getMessage().contains("speaks version 1.2 of the stream protocol, which needs immediate"
                + " data"), connect.cause().getMessage());
        }
    }

    /**
     * Data that is copied in any case is sent behind its 32 bits. Large data is written from where it lies, and the next message
     * announces it.
     */
    @Test
    void largeDataGoesInPlaceAndNothingElse() throws Exception {
        assumeTrue(RawPeer.isPrefixed(), "the device has immediate data");
        RpmaChannel client = (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        byte[] short1 = new byte[8 << 10];
        client.writeAndFlush(RpmaByteBufAllocator.DEFAULT.directBuffer(short1.length).writeBytes(short1)).sync();
        serverReads(short1);
        assertEquals(0, client.counters().sendCopiesAvoided());
        byte[] large = new byte[1 << 20];
        new Random(5).nextBytes(large);
        for (int i = 0; client.counters().bulkSent() == 0; i++) {
            assertTrue(i < 1000, "no granted area was written to");
            client.writeAndFlush(RpmaByteBufAllocator.DEFAULT.directBuffer(large.length).writeBytes(large)).sync();
            serverReads(large);
        }
        assertTrue(client.counters().sendCopiesAvoided() > 0);
        client.close().sync();
        assertNotNull(atServer.accepted().closeFuture().sync());
        assertEquals(List.of(), atServer.allFailures());
    }

    /**
     * The peer has granted an area that is longer than a message, and data fits into a message. Its 32 bits must not be written
     * to the memory in front of the application's buffer. The connection ends, because this peer announces longer messages than
     * it receives.
     */
    @Test
    void nothingIsWrittenInFrontOfABuffer() throws Exception {
        int bytes = 600_000;
        try (RawPeer peer = new RawPeer().prefixed()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect((InetSocketAddress) server.localAddress(),
                new Handshake(Handshake.MINOR, 0, 900 << 10, 16, 1 << 20, true, ByteBuffer.allocate(0)).encode()));
            ByteBuffer descriptor = peer.descriptor();
            peer.send(ByteBuffer.allocate(1 + descriptor.remaining()).put((byte) 0).put(descriptor).array(),
                Immediate.of(Immediate.GRANT, 0));
            peer.send(new byte[] {1}, Immediate.of(Immediate.DATA, 0));
            serverReads(new byte[] {1});
            ByteBuf buf = RpmaByteBufAllocator.DEFAULT.directBuffer(Integer.BYTES + bytes, Integer.BYTES + bytes);
            buf.writeInt(IN_FRONT).skipBytes(Integer.BYTES).writeZero(bytes);
            long inFront = buf.memoryAddress();
            atServer.accepted().writeAndFlush(buf).await();
            // The memory remains registered when the buffer has been released.
            assertEquals(IN_FRONT, Integer.reverseBytes(Memory.getInt(inFront)));
        }
    }

    /**
     * The first part of a buffer that is forwarded is written from where it lies, and the rest is copied, because it is short.
     * Later data arrives in the same memory, and the application keeps a view of it: this buffer must be copied as a whole.
     */
    @Test
    void memoryThatIsReceivedIntoAgainIsNotTakenForTheRestOfWhatWasSent() throws Exception {
        assumeTrue(RawPeer.isPrefixed(), "the device has immediate data");
        RpmaChannel onward = (RpmaChannel) new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        // The memory for this data is larger than what the server grants.
        byte[] large = new byte[(1 << 20) + (64 << 10)];
        try (ConnectedChannels source = new ConnectedChannels(group, ConnectedChannels.Kind.STREAM, from -> { },
                to -> to.option(RpmaChannelOption.RPMA_BULK_BYTES, 4 << 20))) {
            ByteBuf sentInParts = null;
            for (boolean isTested = false; !isTested;) {
                ByteBuf received = receiveAtOnce(source, large);
                long bulk = onward.counters().bulkSent();
                long avoided = onward.counters().sendCopiesAvoided();
                if (received == sentInParts) {
                    ByteBuf kept = received.retainedDuplicate();
                    onward.writeAndFlush(received).sync();
                    serverReads(large);
                    assertEquals(avoided, onward.counters().sendCopiesAvoided());
                    kept.release();
                    // The server has no memory for large data if it has waited too long.
                    isTested = onward.counters().bulkSent() > bulk;
                    sentInParts = null;
                } else if (sentInParts == null) {
                    onward.writeAndFlush(received).sync();
                    serverReads(large);
                    sentInParts = onward.counters().sendCopiesAvoided() > avoided ? received : null;
                } else {
                    received.release();
                }
            }
        }
        onward.close().sync();
    }

    /** Returns large data that arrives in one buffer. */
    private static ByteBuf receiveAtOnce(ConnectedChannels source, byte[] large) throws InterruptedException {
        for (;;) {
            source.server.writeAndFlush(Unpooled.wrappedBuffer(large)).sync();
            ByteBuf buf = assertInstanceOf(ByteBuf.class, source.atClient.next());
            if (buf.readableBytes() == large.length) {
                return buf;
            }
            for (int n = buf.readableBytes(); n < large.length;) {
                buf.release();
                buf = assertInstanceOf(ByteBuf.class, source.atClient.next());
                n += buf.readableBytes();
            }
            buf.release();
        }
    }

    /** Both ends are on one loop, which shuts down. Neither end waits long for the other's confirmation. */
    @Test
    void aLoopThatEndsClosesManyAtOnce() throws Exception {
        RpmaEventLoopGroup one = new RpmaEventLoopGroup(1);
        Channel listener = new ServerBootstrap().group(one).channel(RpmaServerChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        for (int i = 0; i < 8; i++) {
            new Bootstrap().group(one).channel(RpmaChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(listener.localAddress()).sync();
        }
        assertTrue(one.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(20, TimeUnit.SECONDS));
    }
}
