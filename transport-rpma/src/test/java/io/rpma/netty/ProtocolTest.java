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
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.rpma.ConnectionEvent;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.netty.memory.RegisteredMemory;
import io.rpma.netty.stream.BulkAreas;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import io.rpma.netty.stream.StreamSizes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the protocol against a peer that breaks it. Each violation closes its own connection with a reason, and the next
 * connection works.
 */
@Timeout(120)
class ProtocolTest {
    private static final int DATA = Immediate.of(Immediate.DATA, 0);
    /** Whether the 32 bits travel in front of the messages, because the device has no immediate data. */
    private static final boolean PREFIXED = RawPeer.isPrefixed();
    /** A byte that no peer of these tests sends. */
    private static final byte FOREIGN = 0x5a;

    private RpmaEventLoopGroup group;
    private Channel server;
    private volatile boolean allowHalfClosure;
    private volatile Callable<Void> onRead;
    private volatile boolean foreignBytes;
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> inactive = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> received = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        server = listen(true);
    }

    private Channel listen(boolean sharedReceives) throws Exception {
        return new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
            .option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, sharedReceives)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    ch.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure);
                    ch.pipeline().addLast(new Recorder());
                }
            }).bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private final class Recorder extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
            // The callback runs before the message is counted as received.
            Callable<Void> first = onRead;
            ByteBuf buf = (ByteBuf) msg;
            foreignBytes |= buf.indexOf(buf.readerIndex(), buf.writerIndex(), FOREIGN) >= 0;
            received.add(buf.readableBytes());
            ReferenceCountUtil.release(msg);
            if (first != null) {
                onRead = null;
                first.call();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            inactive.add(true);
        }
    }

    private InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    private static ByteBuffer handshake() {
        return new Handshake(Handshake.MINOR, 0, 16 << 10, 16, 1 << 20, PREFIXED, ByteBuffer.allocate(0)).encode();
    }

    private void nextConnectionWorks() throws Exception {
        received.clear();
        Channel client = new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter()).connect(address()).sync().channel();
        client.writeAndFlush(Unpooled.copyInt(7)).sync();
        assertEquals(4, received.poll(30, TimeUnit.SECONDS));
        client.close().sync();
    }

    @Test
    void aRawPeerThatKeepsTheRulesIsServed() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            Handshake answer = Handshake.decode(peer.peerData());
            assertEquals(StreamOptions.DEFAULT_CREDITS, answer.credits());
            assertEquals(StreamOptions.DEFAULT_MESSAGE_BYTES, answer.messageBytes());
            for (int i = 0; i < answer.credits() / 2; i++) {
                peer.send(100, DATA);
                assertEquals(100, received.poll(30, TimeUnit.SECONDS));
            }
            // Half of the credits are due, so they are returned in a message of their own.
            int immediate = peer.receive();
            assertEquals(Immediate.CREDIT, Immediate.kind(immediate));
            assertEquals(answer.credits() / 2, Immediate.credits(immediate));
            peer.send(0, Immediate.of(Immediate.FIN, 0));
            assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
            assertEquals(Immediate.FIN, Immediate.kind(peer.receive()));
            assertTrue(failures.isEmpty());
        }
    }

    static Stream<Arguments> violations() {
        return Stream.concat(violationsOfAnyWire(), PREFIXED ? violationsOfPrefixes() : violationsOfImmediateData());
    }

    private static Stream<Arguments> violationsOfImmediateData() {
        return Stream.of(
            arguments("large data in a message", (Violation) peer -> peer.send(8, Immediate.of(Immediate.BULK, 0)), "was sent"),
            arguments("data that was written", (Violation) peer -> peer.write(null, 0, DATA), "was written"),
            arguments("no immediate data", (Violation) peer -> peer.sendPlain(8), "without immediate data"),
            arguments("an end that needs no confirmation", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.SEEN, 0)), "confirmed an end of the stream"));
    }

    private static Stream<Arguments> violationsOfPrefixes() {
        return Stream.of(
            arguments("an announcement that is too long", (Violation) peer ->
                peer.send(8, Immediate.of(Immediate.BULK, 0)), "the announcement of large data has 12 bytes"),
            arguments("an announcement that is too short", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.BULK, 0)), "the announcement of large data has 4 bytes"),
            arguments("a negative number of bytes announced", (Violation) peer ->
                peer.send(new byte[] {-1, -1, -1, -1}, Immediate.of(Immediate.BULK, 0)), "large data has -1 bytes"),
            arguments("more bytes announced than an area has", (Violation) peer ->
                peer.send(new byte[] {Byte.MAX_VALUE, -1, -1, -1}, Immediate.of(Immediate.BULK, 0)), "large data has 2147483647"),
            arguments("a part of a prefix", (Violation) peer -> peer.sendPlain(3), "less than its prefix of 32 bits"),
            arguments("an empty message", (Violation) peer -> peer.sendPlain(0), "less than its prefix of 32 bits"),
            arguments("confirmation of an end that was not sent", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.SEEN, 0)), "confirmed an end of the stream"));
    }

    private static Stream<Arguments> violationsOfAnyWire() {
        return Stream.of(
            arguments("data without a credit", (Violation) peer -> {
                for (int i = 0; i < StreamOptions.DEFAULT_CREDITS + 1; i++) {
                    peer.send(1, DATA);
                }
            }, "without a credit"),
            arguments("credits that were never granted", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.CREDIT, Immediate.MAX_CREDITS)), "returned 4095 credits on top of"),
            arguments("a credit with data that was never granted", (Violation) peer ->
                peer.send(1, Immediate.of(Immediate.DATA, 1)), "returned 1 credits on top of"),
            arguments("a return of no credits", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.CREDIT, 0)), "are required for that"),
            arguments("large data without a granted area", (Violation) peer ->
                peer.write(null, 0, Immediate.of(Immediate.BULK, 0)), "the size of the next granted area is 0"),
            arguments("areas returned that were not granted", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.RETURN, 0, 1)), "1 areas for large data are returned"),
            arguments("no areas returned", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.RETURN, 0)), "0 areas"),
            arguments("an empty grant", (Violation) peer ->
                peer.send(0, Immediate.of(Immediate.GRANT, 0)), "a grant has 0 bytes"),
            arguments("a grant without a descriptor", (Violation) peer ->
                peer.send(new byte[9], Immediate.of(Immediate.GRANT, 0)), "does not contain a valid descriptor"),
            arguments("a grant of an area beyond the last one", (Violation) peer ->
                peer.send(new byte[] {BulkAreas.AREAS, 0}, Immediate.of(Immediate.GRANT, 0)), "area 8 is granted"),
            arguments("an area granted twice", (Violation) peer -> {
                peer.send(grant(peer), Immediate.of(Immediate.GRANT, 0));
                peer.send(grant(peer), Immediate.of(Immediate.GRANT, 0));
            }, "already granted"),
            arguments("an area that is larger than announced", (Violation) peer -> {
                ByteBuffer larger = ByteBuffer.wrap(grant(peer));
                // The size in the descriptor.
                larger.order(ByteOrder.LITTLE_ENDIAN).putLong(1 + Long.BYTES, 3L << 20);
                peer.send(larger.array(), Immediate.of(Immediate.GRANT, 0));
            }, "the announced maximum is"),
            arguments("an unknown kind", (Violation) peer -> peer.send(8, Immediate.of(9, 0)), "kind 9"),
            arguments("empty data", (Violation) peer -> peer.send(0, DATA), "0 bytes"),
            arguments("data after the end", (Violation) peer -> {
                peer.send(0, Immediate.of(Immediate.FIN, 0));
                peer.send(1, DATA);
            }, "after the end"));
    }

    private static byte[] grant(RawPeer peer) throws Exception {
        ByteBuffer descriptor = peer.descriptor();
        return ByteBuffer.allocate(1 + descriptor.remaining()).put((byte) 3).put(descriptor).array();
    }

    /** A peer asks for memory for large data, is granted areas, writes to one of them, and returns the others. */
    @Test
    void aRawPeerThatKeepsTheRulesWritesLargeData() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            assertEquals(StreamOptions.DEFAULT_BULK_BYTES, Handshake.decode(peer.peerData()).bulkBytes());
            peer.send(10, Immediate.of(Immediate.DATA, 0, 2));
            assertEquals(10, received.poll(30, TimeUnit.SECONDS));
            for (int i = 0; i < BulkAreas.WINDOW; i++) {
                assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
                byte[] grant = peer.received(peer.receivedBytes());
                assertEquals(i, grant[0]);
                if (i > 0) {
                    continue;
                }
                try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(grant, 1, grant.length - 1))) {
                    assertEquals(2 << Handshake.BULK_UNIT_SHIFT, area.size());
                    // The write also returns the credits of the grants.
                    peer.write(area, 100_000, Immediate.of(Immediate.BULK, 1));
                    assertEquals(100_000, received.poll(30, TimeUnit.SECONDS));
                }
            }
            // This grant replaces the area that was written to, which was in use by the application when the message was handled.
            assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
            assertEquals(BulkAreas.WINDOW, peer.received(1)[0]);
            peer.send(0, Immediate.of(Immediate.RETURN, BulkAreas.WINDOW, BulkAreas.WINDOW));
            peer.send(10, DATA);
            assertEquals(10, received.poll(30, TimeUnit.SECONDS));
            assertEquals(0, BulkAreas.bytes());
            assertTrue(failures.isEmpty());
        }
    }

    /** A message that only returns credits needs no credit itself, so it must return half of all credits. */
    @Test
    void creditsThatComeAloneMustBeHalfOfAll() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            peer.send(1, Immediate.of(Immediate.DATA, 0, 2));
            for (int i = 0; i < BulkAreas.WINDOW; i++) {
                assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
            }
            peer.send(0, Immediate.of(Immediate.CREDIT, BulkAreas.WINDOW));
            Throwable failure = failures.poll(30, TimeUnit.SECONDS);
            assertInstanceOf(IOException.class, failure);
            assertTrue(failure.getMessage().contains("returned 4 credits in a separate message; at least 8 of its 16"),
                failure.getMessage());
        }
        nextConnectionWorks();
    }

    /** The device permits this, because an area remains registered after it has been written to. */
    @Test
    void aPeerThatWritesMoreOftenThanItHasAreasIsDisconnected() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            peer.send(1, Immediate.of(Immediate.DATA, 0, 2));
            assertEquals(1, received.poll(30, TimeUnit.SECONDS));
            byte[] grant = null;
            for (int i = 0; i < BulkAreas.WINDOW; i++) {
                assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
                grant = peer.received(peer.receivedBytes());
            }
            try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(grant, 1, grant.length - 1))) {
                // This runs on the server's only loop, so that it grants no areas in between.
                group.next().submit(() -> {
                    for (int i = 0; i < BulkAreas.WINDOW + 1; i++) {
                        peer.write(area, 100, Immediate.of(Immediate.BULK, 0));
                    }
                    peer.awaitSends();
                    return null;
                }).sync();
            }
            Throwable failure = failures.poll(30, TimeUnit.SECONDS);
            assertInstanceOf(IOException.class, failure);
            assertTrue(failure.getMessage().contains("large data has 100 bytes; the size of the next granted area is 0"),
                failure.getMessage());
        }
        nextConnectionWorks();
    }

    /**
     * A peer that writes to another area than the one that it announces does not make the server read bytes of other connections.
     */
    @Test
    void anAreaThatWasNotWrittenToHoldsNobodysBytes() throws Exception {
        int bytes = 2 << Handshake.BULK_UNIT_SHIFT;
        List<ByteBuf> others = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            ByteBuf other = RpmaByteBufAllocator.DEFAULT.directBuffer(bytes);
            for (int k = 0; k < bytes; k++) {
                other.writeByte(FOREIGN);
            }
            others.add(other);
        }
        others.forEach(ByteBuf::release);
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            peer.send(1, Immediate.of(Immediate.DATA, 0, 2));
            assertEquals(1, received.poll(30, TimeUnit.SECONDS));
            peer.receive();
            assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
            byte[] second = peer.received(peer.receivedBytes());
            try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(second, 1, second.length - 1))) {
                peer.write(area, bytes, Immediate.of(Immediate.BULK, 0));
                assertEquals(bytes, received.poll(30, TimeUnit.SECONDS));
                assertFalse(foreignBytes);
            }
        }
        nextConnectionWorks();
    }

    /** A peer that has ended its stream may disconnect before a grant, or credits, reach it. That is not a failure. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGrantThatMeetsNobodyIsNoFailure(boolean sharedReceives) throws Exception {
        server = listen(sharedReceives);
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            peer.send(1, Immediate.of(Immediate.DATA, 0, 2));
            assertEquals(1, received.poll(30, TimeUnit.SECONDS));
            assertEquals(Immediate.GRANT, Immediate.kind(peer.receive()));
            byte[] grant = peer.received(peer.receivedBytes());
            try (RemoteMemoryRegion area = Rpma.provider().openRemoteRegion(ByteBuffer.wrap(grant, 1, grant.length - 1))) {
                // The peer disconnects while the server reads the message before the area's content. After that, the server
                // grants an area.
                onRead = () -> {
                    peer.send(0, Immediate.of(Immediate.FIN, 0));
                    peer.awaitSends();
                    peer.disconnect();
                    return null;
                };
                group.next().submit(() -> {
                    peer.send(2, DATA);
                    peer.write(area, 100, Immediate.of(Immediate.BULK, 0));
                    peer.awaitSends();
                    return null;
                }).sync();
                assertEquals(2, received.poll(30, TimeUnit.SECONDS));
                assertEquals(100, received.poll(30, TimeUnit.SECONDS));
            }
            assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
            assertTrue(failures.isEmpty(), failures::toString);
        }
        nextConnectionWorks();
    }

    @FunctionalInterface
    interface Violation {
        void commit(RawPeer peer) throws Exception;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("violations")
    void aViolationEndsThatConnectionWithAReason(String name, Violation violation, String reason) throws Exception {
        // The end of the stream alone must not close the channel, because the message after it is to be checked.
        allowHalfClosure = true;
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            // This runs on the server's only loop, so that the loop sees all messages together and returns no credits in between.
            group.next().submit(() -> {
                violation.commit(peer);
                // A device may deliver a message later than it accepts it.
                peer.awaitSends();
                return null;
            }).sync();
            Throwable failure = failures.poll(30, TimeUnit.SECONDS);
            assertInstanceOf(IOException.class, failure, name);
            assertInstanceOf(ProtocolException.class, failure.getCause(), name);
            assertTrue(failure.getMessage().contains(reason), failure.getMessage());
            assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
            // The event is REJECTED if the server had not yet seen the client's last step of the handshake.
            assertTrue(EnumSet.of(ConnectionEvent.CLOSED, ConnectionEvent.REJECTED).contains(peer.nextEvent()));
        }
        nextConnectionWorks();
    }

    /**
     * Peers send far more messages than they have credits for, together as many as the shared receive queue holds, before the
     * server polls. Their connections fail because of the credits, and not because a queue has overflowed. The receives that they
     * used are available to the other connections again.
     */
    @Test
    void peersThatIgnoreTheirCreditsAreDisconnectedAndHoldNoReceives() throws Exception {
        int others = 8;
        // The provider soft delivers at most 64 messages of a connection before the server polls.
        int violators = 3;
        int share = StreamOptions.DEFAULT_CREDITS + StreamSizes.CONTROL_RESERVE;
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < others; i++) {
            clients.add(new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(address()).sync().channel());
            clients.get(i).writeAndFlush(Unpooled.copyInt(7)).sync();
            assertEquals(4, received.poll(30, TimeUnit.SECONDS));
        }
        for (int round = 0; round < 4; round++) {
            List<RawPeer> peers = new ArrayList<>();
            try {
                for (int i = 0; i < violators; i++) {
                    peers.add(new RawPeer());
                    assertEquals(ConnectionEvent.ESTABLISHED, peers.get(i).connect(address(), handshake()));
                }
                group.next().submit(() -> {
                    for (int i = 0; i < (others + 1) * share; i++) {
                        RawPeer peer = peers.get(i % violators);
                        peer.send(1, DATA);
                        peer.awaitSends();
                    }
                    return null;
                }).sync();
                for (int i = 0; i < violators; i++) {
                    Throwable failure = failures.poll(30, TimeUnit.SECONDS);
                    assertInstanceOf(ProtocolException.class, failure.getCause(), failure::toString);
                    assertTrue(failure.getMessage().contains("without a credit"), failure.getMessage());
                    assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
                }
            } finally {
                for (RawPeer peer : peers) {
                    peer.close();
                }
            }
            received.clear();
            for (Channel client : clients) {
                client.writeAndFlush(Unpooled.copyInt(7)).sync();
                assertEquals(4, received.poll(30, TimeUnit.SECONDS));
            }
        }
        for (Channel client : clients) {
            client.close().sync();
            assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
        }
        nextConnectionWorks();
    }

    static Stream<Arguments> strangers() {
        ByteBuffer version = handshake();
        version.put(4, (byte) 2);
        ByteBuffer credits = handshake();
        credits.putShort(12, (short) 0);
        ByteBuffer size = handshake();
        size.putInt(8, Integer.MAX_VALUE);
        ByteBuffer garbage = ByteBuffer.allocate(56);
        new java.util.Random(3).nextBytes(garbage.array());
        ByteBuffer areas = handshake();
        areas.putShort(14, (short) 65);
        ByteBuffer refusal = handshake();
        refusal.put(6, (byte) Handshake.REFUSED_VERSION);
        return Stream.of(
            arguments("a refusal instead of a request", refusal, Handshake.REFUSED_MALFORMED),
            arguments("areas that are too large", areas, Handshake.REFUSED_MALFORMED),
            arguments("nothing", null, Handshake.REFUSED_MALFORMED),
            arguments("garbage", garbage, Handshake.REFUSED_MALFORMED),
            arguments("another version", version, Handshake.REFUSED_VERSION),
            arguments("no credits", credits, Handshake.REFUSED_MALFORMED),
            arguments("endless messages", size, Handshake.REFUSED_MALFORMED),
            arguments("more data of the application than the message has", withData(Handshake.MINOR, 40),
                Handshake.REFUSED_MALFORMED),
            arguments("255 bytes of data", withData(Handshake.MINOR, 255), Handshake.REFUSED_MALFORMED));
    }

    /** Returns a handshake that announces a number of bytes of the application's data, but contains only the first of them. */
    private static ByteBuffer withData(int minor, int bytes) {
        ByteBuffer handshake = handshake();
        return ByteBuffer.allocate(Handshake.BYTES + 2).put(handshake).put(5, (byte) minor)
            .put((byte) bytes).put((byte) 'a').flip();
    }

    /**
     * The bytes after the 16 bytes of a handshake of version 1.1 mean nothing. The answer to it can be decoded by version 1.1.
     */
    @Test
    @Tag("immediate-data")
    void anEndOfVersion1Dot1IsUnderstoodAndUnderstands() throws Exception {
        server.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(179));
        BlockingQueue<RpmaConnectRequest> asked = new LinkedBlockingQueue<>();
        server.config().setOption(RpmaChannelOption.RPMA_REQUEST_HANDLER, request -> {
            asked.add(request);
            request.accept();
        });
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), withData(1, 255)));
            assertEquals(0, asked.take().privateData().remaining());
            ByteBuffer answer = peer.peerData();
            assertEquals(Handshake.MAGIC, answer.getInt());
            assertEquals(1, answer.get());
            assertEquals(Handshake.MINOR, answer.get());
            assertEquals(Handshake.ACCEPTED, answer.get());
            assertEquals(StreamOptions.DEFAULT_MESSAGE_BYTES, answer.getInt(8));
            assertEquals(StreamOptions.DEFAULT_CREDITS, answer.getShort(12));
            peer.send(10, DATA);
            assertEquals(10, received.take());
        }
        // Without data of the application, the handshake is as long as that of version 1.1.
        assertEquals(Handshake.BYTES, handshake().remaining());
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(withData(1, 255));
            assertEquals(0, ((RpmaChannel) connect.sync().channel()).peerPrivateData().remaining());
        }
    }

    /** Tests the longest data that is allowed, and data that is one byte longer. */
    @Test
    void dataOfTheServersApplicationAreChecked() throws Exception {
        for (int bytes : new int[] {179, 180}) {
            try (RawPeer peer = new RawPeer()) {
                ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
                peer.accept(withData(Handshake.MINOR, bytes));
                assertTrue(connect.await(30, TimeUnit.SECONDS));
                if (bytes == 179) {
                    ByteBuffer data = ((RpmaChannel) connect.channel()).peerPrivateData();
                    assertEquals(179, data.remaining());
                    assertEquals('a', data.get());
                } else {
                    assertTrue(connect.cause().getMessage().contains("announces 180 bytes of data of its application; there is"
                        + " room for 179"), connect.cause().getMessage());
                }
            }
        }
        nextConnectionWorks();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("strangers")
    void aStrangerIsToldWhyItIsRefused(String name, ByteBuffer privateData, int status) throws Exception {
        long refusedBefore = RpmaMetrics.accepts().refused();
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), privateData), name);
            assertEquals(refusedBefore + 1, RpmaMetrics.accepts().refused());
            assertEquals(status, Handshake.decode(peer.peerData()).status());
            assertEquals(ConnectionEvent.CLOSED, peer.nextEvent());
        }
        nextConnectionWorks();
    }

    @Test
    void aServerThatSpeaksSomethingElseFailsTheConnectWithAReason() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            assertTrue(connect.await(30, TimeUnit.SECONDS));
            assertInstanceOf(IOException.class, connect.cause());
            assertTrue(connect.cause().getMessage().contains("magic number"), connect.cause().getMessage());
            assertTrue(connect.channel().closeFuture().await(30, TimeUnit.SECONDS));
        }
        nextConnectionWorks();
    }

    @Test
    void aServerOfAnotherVersionFailsTheConnectWithBothVersions() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            ByteBuffer version = handshake();
            version.put(4, (byte) 7);
            peer.accept(version);
            assertTrue(connect.await(30, TimeUnit.SECONDS));
            assertTrue(connect.cause().getMessage().contains("version 7." + Handshake.MINOR), connect.cause().getMessage());
        }
        nextConnectionWorks();
    }

    @Test
    void aServerThatRefusesFailsTheConnectWithItsReason() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(Handshake.refusal(Handshake.REFUSED_VERSION).encode());
            assertTrue(connect.await(30, TimeUnit.SECONDS));
            assertTrue(connect.cause().getMessage().contains("does not speak version"), connect.cause().getMessage());
        }
        nextConnectionWorks();
    }

    private static void takeAll(List<ByteBuf> all, int largest) {
        for (int bytes = largest; bytes >= 8 << 10; bytes >>>= 1) {
            for (ByteBuf buf = RegisteredMemory.registered(bytes, bytes); buf != null;
                    buf = RegisteredMemory.registered(bytes, bytes)) {
                all.add(buf);
            }
        }
    }

    /** A peer that accepts long messages gets shorter ones if no registered buffer of that length is available. */
    @Test
    void longMessagesAreSplitWhereMemoryIsShort() throws Exception {
        int bytes = 32 << 10;
        try (RawPeer peer = new RawPeer()) {
            ChannelFuture connect = new Bootstrap().group(group).channel(RpmaChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(peer.listen());
            peer.accept(new Handshake(Handshake.MINOR, 0, Handshake.MAX_MESSAGE_BYTES, 16, 0).encode());
            Channel client = connect.sync().channel();
            group.submit(() -> {
                // This runs on the loop, so that the buffers which its thread keeps are allocated as well.
                List<ByteBuf> all = new ArrayList<>();
                int piece = 8 << 10;
                takeAll(all, RpmaByteBufAllocator.MAX_REGISTERED_CAPACITY);
                all.removeFirst().release();
                takeAll(all, piece);
                // The 32 bits of each message leave less room for data, so one more buffer is needed.
                for (int free = 0; free < bytes + (PREFIXED ? piece : 0); free += piece) {
                    all.removeLast().release();
                }
                ChannelFuture written = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
                all.forEach(ByteBuf::release);
                return written;
            }).sync().getNow().sync();
            for (int got = 0; got < bytes;) {
                assertEquals(Immediate.DATA, Immediate.kind(peer.receive()));
                assertTrue(peer.receivedBytes() < bytes);
                got += peer.receivedBytes();
            }
        }
        nextConnectionWorks();
    }

    @Test
    void aPeerThatVanishesIsAReset() throws Exception {
        try (RawPeer peer = new RawPeer()) {
            assertEquals(ConnectionEvent.ESTABLISHED, peer.connect(address(), handshake()));
            peer.send(10, DATA);
            assertEquals(10, received.poll(30, TimeUnit.SECONDS));
            peer.disconnect();
            Throwable failure = failures.poll(30, TimeUnit.SECONDS);
            assertInstanceOf(IOException.class, failure);
            assertTrue(failure.getMessage().contains("reset"), failure.getMessage());
            assertNotNull(inactive.poll(30, TimeUnit.SECONDS));
        }
        nextConnectionWorks();
    }
}
