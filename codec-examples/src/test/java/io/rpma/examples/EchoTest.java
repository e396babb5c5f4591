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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the echo server and client in this process, and servers that do not echo correctly. */
@Timeout(120)
class EchoTest {
    private static final EchoPlan PLAN = new EchoPlan(3 << 20, 10, 5);

    private final BlockingQueue<String> served = new ArrayBlockingQueue<>(10);
    private EchoServer server;

    @BeforeEach
    void startServer() {
        server = new EchoServer(new InetSocketAddress("127.0.0.1", 0), served::add);
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    private EchoClient connect() throws IOException {
        return new EchoClient(server.address(), (what, done, of) -> { });
    }

    private static String printed(EchoResult result) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        result.print(new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void anUntouchedStreamMatches() throws Exception {
        EchoResult result;
        try (EchoClient client = connect()) {
            result = client.run(PLAN);
        }
        assertTrue(result.matches(), result::toString);
        assertEquals(PLAN.bytes() + 15 * EchoPlan.ROUND_TRIP_BYTES, result.server().received());
        assertTrue(printed(result).contains(" match"), () -> printed(result));
        String line = served.poll(30, TimeUnit.SECONDS);
        assertTrue(line.endsWith(result.server().toString()), line);
    }

    @Test
    void oneByteAndNoRoundTrip() throws Exception {
        try (EchoClient client = connect()) {
            EchoResult result = client.run(new EchoPlan(1, 0, 5));
            assertTrue(result.matches(), result::toString);
            assertEquals(1, result.client().received());
        }
    }

    /** The sum of the round trips for warming up and of the measured ones may exceed an int. */
    @Test
    void moreRoundTripsThanAnIntCanCount() {
        EchoPlan plan = new EchoPlan(1, 2_000_000_000, 5);
        RoundTripPhase phase = new RoundTripPhase(plan.warmUp(), plan.roundTrips(), new RandomBytes(plan.seed()));
        EmbeddedChannel channel = new EmbeddedChannel();
        Future<Histogram> result = phase.start(channel);
        for (int i = 0; i < 10; i++) {
            assertFalse(result.isDone(), "done after " + i + " of " + plan.messages() + " round trips");
            channel.writeInbound((ByteBuf) channel.readOutbound());
        }
        assertEquals(10, phase.progress);
        channel.finishAndReleaseAll();
    }

    @Test
    void theSeedDecidesTheData() throws Exception {
        int[] checksums = new int[3];
        for (int i = 0; i < checksums.length; i++) {
            try (EchoClient client = connect()) {
                checksums[i] = client.run(new EchoPlan(1000, 2, i < 2 ? 7 : 8)).client().receivedChecksum();
            }
        }
        assertEquals(checksums[0], checksums[1]);
        assertNotEquals(checksums[0], checksums[2]);
    }

    @Test
    void oneBitThatWasFlippedIsFound() throws Exception {
        EchoResult result;
        try (EchoClient client = connect()) {
            client.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                private long passed;

                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ByteBuf bytes = (ByteBuf) message;
                    long at = (2 << 20) - passed;
                    if (at >= 0 && at < bytes.readableBytes()) {
                        int index = bytes.readerIndex() + (int) at;
                        bytes.setByte(index, bytes.getByte(index) ^ 0x10);
                    }
                    passed += bytes.readableBytes();
                    ctx.fireChannelRead(message);
                }
            });
            result = client.run(PLAN);
        }
        assertFalse(result.matches(), result::toString);
        assertEquals(result.client().received(), result.client().sent());
        assertTrue(printed(result).contains(" MISMATCH"), () -> printed(result));
    }

    @Test
    void aConnectionThatEndsEarlyIsAFailureThatSaysHowFarItCame() throws Exception {
        try (EchoClient client = connect()) {
            client.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    ctx.fireChannelRead(message);
                    ctx.close();
                }
            });
            IOException failure = assertThrows(IOException.class, () -> client.run(PLAN));
            assertTrue(failure.getMessage().matches("the server closed the connection: stream, [1-9]\\d* of 3145728"),
                failure.getMessage());
        }
    }

    @Test
    void afterAnAbortedConnectionTheServerServesTheNext() throws Exception {
        try (EchoClient client = connect()) {
            assertThrows(IOException.class, () -> {
                client.channel().close().sync();
                client.run(PLAN);
            });
        }
        try (EchoClient client = connect()) {
            assertTrue(client.run(PLAN).matches());
        }
    }
}
