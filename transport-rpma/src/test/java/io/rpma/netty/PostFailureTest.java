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
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.rpma.Connection;
import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.netty.ConnectedChannels.Kind;
import io.rpma.netty.pair.QueuePair;
import io.rpma.netty.receive.OwnReceives;
import io.rpma.netty.stream.StreamQueuePair;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests work requests that the provider refuses to post, for example because their memory cannot be registered: everything that
 * was written fails, and the channel is closed with the reason, after the data that arrived before has been read.
 */
@Timeout(60)
class PostFailureTest {
    private static final int SIZE = 64;
    /** The calls that post to the send queue. */
    private static final Set<String> POSTS = Set.of("send", "sendWithImmediate", "write", "writeWithImmediate");

    private RpmaEventLoopGroup group;
    private ConnectedChannels channels;
    private RpmaRegion there;
    private RpmaRegion here;
    private RpmaRemoteRegion remote;

    @BeforeEach
    void start() throws Exception {
        group = new RpmaEventLoopGroup(1);
        there = RpmaRegion.allocate(SIZE, MemoryUsage.WRITE_DST);
        here = RpmaRegion.allocate(SIZE, MemoryUsage.WRITE_SRC);
    }

    @AfterEach
    void stop() {
        channels.close();
        remote.release();
        there.release();
        here.release();
        assertEquals(0, here.refCnt(), "an operation still holds the region");
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Connects channels, lets a message arrive at the client, which does not read, and lets the posts of the client fail. */
    private Channel connect(Kind kind) throws Exception {
        channels = new ConnectedChannels(group, kind, server -> { }, client -> client.option(ChannelOption.AUTO_READ, false));
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        QueuePair pair = ((AbstractRpmaChannel) channels.client).pair();
        while (channels.client.eventLoop().submit(() -> pair.counters().messagesReceived).get() < 1) {
            // Each check is a turn of the event loop, which processes new events.
            continue;
        }
        channels.client.eventLoop().submit(() -> {
            pair.connection = failing(pair.connection, POSTS);
        }).sync();
        return channels.client;
    }

    private static Connection failing(Connection connection, Set<String> methods) {
        return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(), new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
                if (methods.contains(method.getName())) {
                    throw new RpmaException(RpmaError.PROVIDER, 12, "failed on purpose", null);
                }
                try {
                    return method.invoke(connection, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    private void assertEnded(ChannelFuture... writes) throws Exception {
        for (ChannelFuture write : writes) {
            assertTrue(write.await(20, TimeUnit.SECONDS), "a promise is not notified");
            assertInstanceOf(IOException.class, write.cause());
        }
        assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS), "the channel stays open");
        ByteBuf read = (ByteBuf) channels.atClient.next();
        assertEquals(42, read.readInt());
        read.release();
        Throwable failure = channels.atClient.failure();
        assertNotNull(failure);
        assertTrue(failure.getMessage().contains("failed on purpose"), failure::toString);
        assertTrue(channels.server.closeFuture().await(20, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @EnumSource
    void anOperationThatCannotBePostedEndsTheChannel(Kind kind) throws Exception {
        Channel client = connect(kind);
        ChannelFuture operation = client.write(RpmaOperation.write(here, 0, SIZE, remote, 0));
        ChannelFuture another = client.write(RpmaOperation.write(here, 0, SIZE, remote, 0));
        ChannelFuture data = client.write(Unpooled.copyInt(1));
        client.flush();
        assertEnded(operation, another, data);
    }

    @Test
    void aMessageThatCannotBePostedEndsTheChannel() throws Exception {
        Channel client = connect(Kind.MESSAGES);
        ChannelFuture one = client.write(Unpooled.copyInt(1));
        ChannelFuture another = client.write(Unpooled.copyInt(2));
        client.flush();
        assertEnded(one, another);
    }

    /** The device may access the memory of an earlier message until the connection has been destroyed. */
    @Test
    void theMemoryOfAnEarlierMessageIsKeptUntilTheConnectionIsDestroyed() throws Exception {
        channels = new ConnectedChannels(group, Kind.MESSAGES, server -> server.childOption(ChannelOption.AUTO_READ, false)
            .childOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 1), client -> { });
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        Channel client = channels.client;
        client.writeAndFlush(Unpooled.copyInt(1)).sync();
        QueuePair pair = ((AbstractRpmaChannel) client).pair();
        CompletableFuture<Boolean> destroyed = new CompletableFuture<>();
        client.eventLoop().submit(() -> {
            // No receive is left for this message, so it is under way when the next one fails.
            client.writeAndFlush(Unpooled.copyInt(2)).addListener(failed -> destroyed.complete(pair.isClosed()));
            pair.connection = failing(pair.connection, POSTS);
            client.writeAndFlush(Unpooled.copyInt(3));
        }).sync();
        assertTrue(destroyed.get(20, TimeUnit.SECONDS),
            "the memory of the message was released before the connection was destroyed");
        assertTrue(client.closeFuture().await(20, TimeUnit.SECONDS), "the channel stays open");
    }

    /** Nothing else happens on the connection by which the channel could learn of the failure. */
    @Test
    void aReceiveThatCannotBePostedAgainEndsTheChannel() throws Exception {
        channels = new ConnectedChannels(group, Kind.STREAM, server -> { },
            client -> client.option(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE, false));
        remote = RpmaRemoteRegion.open(there.descriptor(channels.server));
        QueuePair pair = ((AbstractRpmaChannel) channels.client).pair();
        Field receives = StreamQueuePair.class.getDeclaredField("receives");
        receives.setAccessible(true);
        OwnReceives own = (OwnReceives) receives.get(pair);
        channels.client.eventLoop().submit(() -> own.connected(failing(pair.connection, Set.of("receive")))).sync();
        channels.server.writeAndFlush(Unpooled.copyInt(42)).sync();
        assertEnded();
    }

    @Test
    void anEndOfTheStreamThatCannotBePostedEndsTheChannel() throws Exception {
        Channel client = connect(Kind.STREAM);
        ((RpmaChannel) client).shutdownOutput();
        assertEnded();
    }
}
