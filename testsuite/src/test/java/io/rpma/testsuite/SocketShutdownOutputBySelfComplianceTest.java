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
package io.rpma.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketShutdownOutputBySelfTest;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.util.List;

import static io.netty.testsuite.transport.TestsuitePermutation.randomBufferType;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the channel's own half-close. Each test body has the assertions of the suite's body, but the peer uses RDMA. */
public class SocketShutdownOutputBySelfComplianceTest extends SocketShutdownOutputBySelfTest {
    private static final String REASON = "the suite's peer is a java.net.ServerSocket; here it is a channel of the transport";

    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return Permutations.INSTANCE.clientSocket();
    }

    @Override
    protected List<ByteBufAllocator> newAllocators() {
        return Permutations.allocators(super.newAllocators());
    }

    @Override
    @SuiteOverride(REASON)
    public void testShutdownOutput(Bootstrap cb) throws Throwable {
        PeerSocket inbound = new PeerSocket();
        try (Pair pair = new Pair(cb, inbound.handler())) {
            inbound.attach(pair.channel);
            assertState(pair.channel, false);

            pair.channel.writeAndFlush(randomBufferType(pair.channel.alloc(), new byte[] {7}, 0, 1)).sync();
            assertEquals(7, pair.peer.read());
            assertState(pair.channel, false);

            pair.channel.shutdownOutput().sync();
            assertEquals(-1, pair.peer.read(), "the peer must see the end of the stream");
            assertState(pair.channel, true);

            // The other direction is still open.
            pair.peer.write(9);
            assertEquals(9, inbound.read());
            assertState(pair.channel, true);
        }
    }

    @Override
    @SuiteOverride(REASON)
    public void testShutdownOutputAfterClosed(Bootstrap cb) throws Throwable {
        try (Pair pair = new Pair(cb, new ChannelInboundHandlerAdapter())) {
            assertTrue(pair.channel.isActive());
            pair.channel.close().sync();
            assertFailsAsClosed(pair.channel.shutdownInput());
            assertFailsAsClosed(pair.channel.shutdownOutput());
        }
    }

    @Override
    @SuiteOverride(REASON)
    public void testShutdownOutputSoLingerNoAssertError(Bootstrap cb) throws Throwable {
        cb.option(ChannelOption.SO_LINGER, 1);
        try (Pair pair = new Pair(cb, new ChannelInboundHandlerAdapter())) {
            pair.channel.shutdownOutput().sync();
        }
    }

    @Override
    @SuiteOverride(REASON)
    public void testShutdownSoLingerNoAssertError(Bootstrap cb) throws Throwable {
        cb.option(ChannelOption.SO_LINGER, 1);
        try (Pair pair = new Pair(cb, new ChannelInboundHandlerAdapter())) {
            pair.channel.shutdown().sync();
        }
    }

    private static void assertState(SocketChannel channel, boolean outputShutdown) {
        assertTrue(channel.isOpen(), "open");
        assertTrue(channel.isActive(), "active");
        assertFalse(channel.isInputShutdown(), "the input is shut down");
        assertEquals(outputShutdown, channel.isOutputShutdown(), "whether the output is shut down");
    }

    private static void assertFailsAsClosed(ChannelFuture future) throws InterruptedException {
        Throwable cause = future.await().cause();
        assertNotNull(cause, "must fail on a closed channel");
        assertTrue(cause instanceof ClosedChannelException || cause instanceof SocketException, cause::toString);
    }

    /** A channel under test that is connected to a blocking peer. */
    private final class Pair implements AutoCloseable {
        final PeerServerSocket server = new PeerServerSocket(newSocketAddress());
        final SocketChannel channel;
        final PeerSocket peer;

        Pair(Bootstrap cb, ChannelHandler handler) throws Exception {
            channel = (SocketChannel) cb.handler(handler).connect(server.localAddress()).sync().channel();
            peer = server.accept();
        }

        @Override
        public void close() throws IOException {
            peer.close();
            channel.close().syncUninterruptibly();
            server.close();
        }
    }
}
