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

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;
import io.rpma.CompletionOpcode;
import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.netty.pair.QueuePair;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests a peer that creates completions or events as fast as they are consumed: each loop over them is bounded. */
@Timeout(60)
class EndlessPeerTest {
    /** A limit that makes the test fail instead of hanging if a loop does not end. */
    private static final int ENOUGH = 1_000_000;
    /** A completion queue has space for about 1,200 completions, including all receives of a shared queue, and a batch for 64. */
    private static final int MOST_POLLS = 32;

    private RpmaEventLoopGroup group;

    @BeforeEach
    void start() {
        group = new RpmaEventLoopGroup(1);
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /**
     * A queue that always contains another full batch. The completions belong to a work request that has completed before, so
     * they have no effect.
     */
    private static final class EndlessQueue implements CompletionQueue {
        private final CompletionQueue queue;
        private int polls;

        EndlessQueue(CompletionQueue queue) {
            this.queue = queue;
        }

        @Override
        public int fd() {
            return queue.fd();
        }

        @Override
        public boolean consumeEvent() throws RpmaException {
            return queue.consumeEvent();
        }

        @Override
        public int poll(WorkCompletions completions) {
            if (++polls >= ENOUGH) {
                return 0;
            }
            for (int i = 0; i < completions.capacity(); i++) {
                completions.set(i, 1L << 62, 0, CompletionOpcode.SEND.code(), 0, 0, 1, 0);
            }
            return completions.capacity();
        }
    }

    private ConnectedChannels connect(ConnectedChannels.Kind kind) throws Exception {
        RpmaSharedReceiveQueue[] shared = new RpmaSharedReceiveQueue[1];
        if (kind == ConnectedChannels.Kind.MESSAGES) {
            shared[0] = new RpmaSharedReceiveQueue(64, 1000);
        }
        ConnectedChannels channels = new ConnectedChannels(group, kind, server -> { }, client -> {
            if (shared[0] != null) {
                client.option(RpmaChannelOption.RPMA_RECEIVE_QUEUE, shared[0]);
            }
        });
        if (shared[0] != null) {
            channels.client.closeFuture().addListener(closed -> shared[0].release());
        }
        // At least one work request must have completed before.
        channels.client.writeAndFlush(Unpooled.copyInt(1)).sync();
        ReferenceCountUtil.release(channels.atServer.next());
        return channels;
    }

    private static QueuePair pair(Channel channel) {
        return ((AbstractRpmaChannel) channel).pair();
    }

    private int pollsOf(Channel channel, Consumer<QueuePair> what) throws Exception {
        return group.submit(() -> {
            QueuePair pair = pair(channel);
            EndlessQueue endless = new EndlessQueue(pair.queue);
            pair.queue = endless;
            what.accept(pair);
            return endless.polls;
        }).sync().getNow();
    }

    @ParameterizedTest
    @EnumSource
    void takesNoMoreThanHadCompleted(ConnectedChannels.Kind kind) throws Exception {
        try (ConnectedChannels channels = connect(kind)) {
            int polls = pollsOf(channels.client, QueuePair::takeAll);
            assertTrue(polls > 0 && polls <= MOST_POLLS, () -> polls + " polls");
        }
    }

    @ParameterizedTest
    @EnumSource
    void closesAtOnce(ConnectedChannels.Kind kind) throws Exception {
        try (ConnectedChannels channels = connect(kind)) {
            channels.client.config().setOption(ChannelOption.SO_LINGER, 0);
            int polls = pollsOf(channels.client, pair -> {
                channels.client.unsafe().closeForcibly();
                assertTrue(pair.isClosed());
            });
            assertTrue(polls > 0 && polls <= MOST_POLLS, () -> polls + " polls");
        }
    }

    /** Tests the two queues of a connection that share a descriptor. */
    @ParameterizedTest
    @EnumSource
    void takesNoMoreThanFewEventsOfItsQueues(ConnectedChannels.Kind kind) throws Exception {
        try (ConnectedChannels channels = connect(kind)) {
            EndlessEvents events = new EndlessEvents(pair(channels.client).connection);
            events.completions = pair(channels.client).queue;
            assertTrue(new TwoQueues(events.connection).consumeEvent());
            assertTrue(events.calls <= 4, () -> events.calls + " events");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionWithoutEndOfEventsIsClosed(ConnectedChannels.Kind kind) throws Exception {
        try (ConnectedChannels channels = connect(kind)) {
            EndlessEvents events = new EndlessEvents(pair(channels.client).connection);
            group.submit(() -> {
                QueuePair pair = pair(channels.client);
                Connection real = pair.connection;
                pair.connection = events.connection;
                pair.drainEvents();
                if (!pair.isClosed()) {
                    pair.connection = real;
                }
            }).sync();
            assertTrue(events.calls <= 64, () -> events.calls + " events");
            Throwable failure = channels.atClient.failure();
            assertInstanceOf(java.io.IOException.class, failure);
            assertTrue(failure.getMessage().contains("events of one connection"), failure.getMessage());
            assertTrue(channels.client.closeFuture().await(20, TimeUnit.SECONDS));
        }
    }

    /** A connection that returns another event on each call. */
    private static final class EndlessEvents {
        private final Connection connection;
        private CompletionQueue completions;
        private int calls;

        EndlessEvents(Connection real) {
            connection = (Connection) Proxy.newProxyInstance(EndlessEvents.class.getClassLoader(),
                new Class<?>[] {Connection.class}, (proxy, method, arguments) -> call(real, method, arguments));
        }

        private Object call(Connection real, Method method, Object[] arguments) throws Throwable {
            switch (method.getName()) {
                case "nextEvent":
                    return ++calls < ENOUGH ? ConnectionEvent.ESTABLISHED : null;
                case "consumeCompletionEvent":
                    return ++calls < ENOUGH ? completions : null;
                case "completionFd":
                    return completions.fd();
                case "receiveCompletionQueue":
                    return completions;
                default:
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
            }
        }
    }
}
