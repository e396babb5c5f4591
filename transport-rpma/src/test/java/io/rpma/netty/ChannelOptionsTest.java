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
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the options of the four kinds of channels: listing, reading, setting and refusing them. */
class ChannelOptionsTest {
    private static final Set<ChannelOption<?>> STREAM = Set.of(RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES,
        RpmaChannelOption.RPMA_RECEIVE_BUFFERS, RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE,
        RpmaChannelOption.RPMA_BULK_BYTES);

    /** The options that only servers have. */
    private static final Set<ChannelOption<?>> REQUESTS = Set.of(RpmaChannelOption.RPMA_REQUEST_HANDLER,
        RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS);

    private static List<Channel> streams() {
        return List.of(new RpmaChannel(), new RpmaServerChannel());
    }

    private static List<Channel> messages() {
        return List.of(new RpmaMessageChannel(), new RpmaMessageServerChannel());
    }

    private static Set<ChannelOption<?>> ownOptions(ChannelConfig config) {
        Set<ChannelOption<?>> options = new LinkedHashSet<>(config.getOptions().keySet());
        options.removeIf(option -> !option.name().startsWith(RpmaChannelOption.class.getName()));
        return options;
    }

    /** A connection and its server accept the same options, and every option is accepted by some channel. */
    @Test
    void everyOptionHasItsChannels() throws Exception {
        Set<ChannelOption<?>> taken = new LinkedHashSet<>();
        for (List<Channel> kind : List.of(streams(), messages())) {
            Set<ChannelOption<?>> options = ownOptions(kind.getFirst().config());
            taken.addAll(options);
            options.addAll(REQUESTS);
            assertEquals(options, ownOptions(kind.getLast().config()));
            taken.addAll(options);
            kind.forEach(channel -> channel.unsafe().closeForcibly());
        }
        assertTrue(taken.containsAll(STREAM), taken::toString);
        for (Field field : RpmaChannelOption.class.getDeclaredFields()) {
            assertTrue(taken.contains(field.get(null)), field::getName);
        }
    }

    /** The default value of an option can be set, and a value that has been set is returned by each way to read it. */
    @Test
    @SuppressWarnings("unchecked")
    void whatIsSetIsGivenBack() {
        for (List<Channel> kind : List.of(streams(), messages())) {
            for (Channel channel : kind) {
                ChannelConfig config = channel.config();
                config.getOptions().forEach((option, value) -> {
                    if (value != null) {
                        assertTrue(config.setOption((ChannelOption<Object>) option, value), option::toString);
                        assertEquals(value, config.getOption(option), option::toString);
                    }
                });
                assertTrue(config.setOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 7));
                assertEquals(7, config.getOption(RpmaChannelOption.RPMA_RECEIVE_BUFFERS));
                assertEquals(7, config.getOptions().get(RpmaChannelOption.RPMA_RECEIVE_BUFFERS));
                channel.unsafe().closeForcibly();
            }
        }
    }

    @Test
    void theGettersSpeakOfTheOptions() {
        RpmaChannel channel = new RpmaChannel();
        RpmaServerChannel server = new RpmaServerChannel();
        assertTrue(channel.config().setSoLinger(3).setAllowHalfClosure(true).setOption(ChannelOption.IP_TOS, 8));
        assertEquals(3, channel.config().getOption(ChannelOption.SO_LINGER));
        assertEquals(true, channel.config().getOption(ChannelOption.ALLOW_HALF_CLOSURE));
        assertEquals(8, channel.config().getTrafficClass());
        assertTrue(server.config().setOption(ChannelOption.SO_BACKLOG, 9));
        assertEquals(9, server.config().getBacklog());
        channel.unsafe().closeForcibly();
        server.unsafe().closeForcibly();
    }

    @Test
    void whatIsOutOfBoundsIsRefusedAndChangesNothing() {
        for (Channel channel : streams()) {
            assertRefused(channel, RpmaChannelOption.RPMA_RECEIVE_BUFFER_BYTES, 63,
                "RPMA_RECEIVE_BUFFER_BYTES is 63; allowed are 64 to 4194304");
            assertRefused(channel, RpmaChannelOption.RPMA_RECEIVE_BUFFERS, 0, "RPMA_RECEIVE_BUFFERS is 0; allowed are 1 to 4095");
            channel.unsafe().closeForcibly();
        }
        for (Channel channel : List.of(new RpmaServerChannel(), new RpmaMessageServerChannel())) {
            assertRefused(channel, ChannelOption.SO_BACKLOG, -1, "SO_BACKLOG is -1; allowed are 0 to 2147483647");
            channel.unsafe().closeForcibly();
        }
        Channel server = new RpmaMessageServerChannel();
        assertRefused(server, RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(197),
            "RPMA_PRIVATE_DATA is 197 bytes; allowed are 0 to 196");
        server.unsafe().closeForcibly();
        List<Channel> streams = streams();
        assertRefused(streams.getFirst(), RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(40),
            "RPMA_PRIVATE_DATA is 40 bytes; allowed are 0 to 39");
        assertRefused(streams.getLast(), RpmaChannelOption.RPMA_PRIVATE_DATA, ByteBuffer.allocate(180),
            "RPMA_PRIVATE_DATA is 180 bytes; allowed are 0 to 179");
        assertRefused(streams.getLast(), RpmaChannelOption.RPMA_REQUEST_TIMEOUT_MILLIS, 0,
            "RPMA_REQUEST_TIMEOUT_MILLIS is 0; allowed are 1 to 60000");
        streams.forEach(channel -> channel.unsafe().closeForcibly());
    }

    private static <T> void assertRefused(Channel channel, ChannelOption<T> option, T value, String message) {
        T before = channel.config().getOption(option);
        Exception refused = assertThrows(IllegalArgumentException.class, () -> channel.config().setOption(option, value));
        assertEquals(message, refused.getMessage());
        assertEquals(before, channel.config().getOption(option));
    }

    /** A value of a wrong type is refused when it is set and not when it is used; the message names the option. */
    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void aValueOfAnotherTypeIsRefused() {
        for (Channel channel : streams()) {
            ChannelOption option = RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE;
            Exception refused = assertThrows(ClassCastException.class, () -> channel.config().setOption(option, "yes"));
            assertEquals("RPMA_SHARED_RECEIVE_QUEUE is 'yes' of the type java.lang.String; its type is java.lang.Boolean",
                refused.getMessage());
            assertEquals(true, channel.config().getOption(RpmaChannelOption.RPMA_SHARED_RECEIVE_QUEUE));
            ChannelOption number = RpmaChannelOption.RPMA_RECEIVE_BUFFERS;
            refused = assertThrows(ClassCastException.class, () -> channel.config().setOption(number, 16L));
            assertEquals("RPMA_RECEIVE_BUFFERS is '16' of the type java.lang.Long; its type is java.lang.Integer",
                refused.getMessage());
            channel.unsafe().closeForcibly();
        }
    }

    /** A list of paths that contains something else is refused, and the message shows the list. */
    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void aListOfOtherThingsThanPathsIsRefused() {
        for (Channel channel : List.of(new RpmaChannel(), new RpmaMessageServerChannel())) {
            ChannelOption paths = RpmaChannelOption.RPMA_PATHS;
            for (List<?> list : List.of(Arrays.asList(RpmaPath.TCP, null), Collections.singletonList(null), List.of("tcp"),
                    Arrays.asList(RpmaPath.TCP, "shared-memory"))) {
                assertRefused(channel, paths, list, "RPMA_PATHS is " + list + "; it must name at least one of"
                    + " [shared-memory, rdma, tcp], and none twice");
            }
            channel.unsafe().closeForcibly();
        }
    }

    /** Changes to the array that was set or returned do not change the private data. */
    @Test
    void privateDataAreCopied() {
        RpmaMessageChannel channel = new RpmaMessageChannel();
        ByteBuffer given = ByteBuffer.wrap(new byte[] {1, 2, 3}).position(1);
        channel.config().setOption(RpmaChannelOption.RPMA_PRIVATE_DATA, given);
        given.put(1, (byte) 9);
        ByteBuffer asked = channel.config().getOption(RpmaChannelOption.RPMA_PRIVATE_DATA);
        assertTrue(asked.isReadOnly());
        assertEquals(2, asked.get());
        assertEquals(ByteBuffer.wrap(new byte[] {2, 3}), channel.config().getOption(RpmaChannelOption.RPMA_PRIVATE_DATA));
        channel.unsafe().closeForcibly();
    }
}
