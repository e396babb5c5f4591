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
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.rpma.FlushType;
import io.rpma.netty.ConnectedChannels.Kind;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the last message of a flush is signalled, whatever follows it in the flush without causing a message. If it was not,
 * an idle connection would keep the memory of its last data. Neither end sends anything else.
 */
@Timeout(120)
class LastMessageTest {
    // Sent without a copy in one message. Receive buffers, which use released memory again, have another size.
    private static final int LARGE = 20 << 10;
    private static final int SMALL = 100;

    @TempDir
    private Path folder;
    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;

    @BeforeEach
    void connect() throws Exception {
        group = new RpmaEventLoopGroup(1);
        channels = new ConnectedChannels(group, Kind.STREAM);
    }

    @AfterEach
    void close() {
        channels.close();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Entries of a flush for which nothing is posted. */
    enum Nothing {
        EMPTY_BUFFER {
            @Override
            void write(Channel channel, Path folder) {
                channel.write(Unpooled.EMPTY_BUFFER);
            }
        },
        CANCELLED {
            @Override
            void write(Channel channel, Path folder) {
                ChannelPromise promise = channel.newPromise();
                channel.write(Unpooled.copyInt(1), promise);
                assertTrue(promise.cancel(false));
            }
        },
        EMPTY_REGION {
            @Override
            void write(Channel channel, Path folder) throws Exception {
                Path file = folder.resolve("empty");
                Files.write(file, new byte[0]);
                channel.write(new DefaultFileRegion(FileChannel.open(file), 0, 0));
            }
        },
        REFUSED_OPERATION {
            @Override
            void write(Channel channel, Path folder) throws Exception {
                // The peer's configuration is missing, which is detected when the operation is posted.
                RpmaRegion there = RpmaRegion.allocate(8, Usages.all());
                RpmaRemoteRegion remote = RpmaRemoteRegion.open(there.descriptor(channel));
                channel.write(RpmaOperation.flush(remote, 0, 8, FlushType.PERSISTENT)).addListener(refused -> there.release());
                remote.release();
            }
        },
        SEVERAL {
            @Override
            void write(Channel channel, Path folder) throws Exception {
                for (Nothing each : new Nothing[] {CANCELLED, EMPTY_REGION, EMPTY_BUFFER, EMPTY_REGION, CANCELLED}) {
                    each.write(channel, folder);
                }
            }
        };

        abstract void write(Channel channel, Path folder) throws Exception;
    }

    private static ByteBuf registered(int bytes) {
        return RpmaByteBufAllocator.DEFAULT.directBuffer(bytes, bytes).writeZero(bytes);
    }

    /** Writes a buffer and what follows it on the event loop, flushes once, and waits until the peer has read the bytes. */
    private void flushTogether(ByteBuf buf, Nothing... following) throws Exception {
        int bytes = buf.readableBytes();
        channels.client.eventLoop().submit(() -> {
            channels.client.write(buf);
            for (Nothing each : following) {
                each.write(channels.client, folder);
            }
            channels.client.flush();
            return null;
        }).sync();
        peerReads(bytes);
    }

    private void peerReads(int bytes) throws InterruptedException {
        for (int n = 0; n < bytes;) {
            ByteBuf read = assertInstanceOf(ByteBuf.class, channels.atServer.next());
            n += read.readableBytes();
            read.release();
        }
    }

    /** Waits until no work request of the client is under way. */
    private void awaitDelivery() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        // Each check is a turn of the event loop, which processes new completions.
        while (!channels.client.eventLoop().submit(() -> ((RpmaChannel) channels.client).pair().isDelivered()).get()) {
            assertTrue(System.nanoTime() - end < 0, "the last message was not completed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLargeBufferIsReleased(Nothing following) throws Exception {
        ByteBuf large = registered(LARGE);
        flushTogether(large, following);
        awaitDelivery();
        assertEquals(0, large.refCnt());
    }

    @ParameterizedTest
    @EnumSource
    void theMemoryOfACopyIsReleased(Nothing following) throws Exception {
        flushTogether(registered(SMALL), following);
        awaitDelivery();
    }

    /** Only the last message is signalled: a signal after each one would cost a completion each. */
    @Test
    void aMessageThatIsFollowedByAnotherIsNotSignalled() throws Exception {
        ByteBuf large = registered(LARGE);
        ByteBuf second = registered(LARGE);
        long before = ((RpmaChannel) channels.client).counters().completions();
        channels.client.eventLoop().submit(() -> {
            channels.client.write(large);
            for (Nothing each : new Nothing[] {Nothing.EMPTY_BUFFER, Nothing.CANCELLED, Nothing.EMPTY_REGION}) {
                each.write(channels.client, folder);
            }
            channels.client.writeAndFlush(second);
            return null;
        }).sync();
        peerReads(2 * LARGE);
        awaitDelivery();
        assertEquals(0, large.refCnt());
        assertEquals(0, second.refCnt());
        assertEquals(before + 1, ((RpmaChannel) channels.client).counters().completions());
    }
}
