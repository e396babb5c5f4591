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
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ResourceLeakDetector;
import io.rpma.netty.stream.Handshake;
import io.rpma.netty.stream.Immediate;
import io.rpma.netty.stream.StreamSender;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that memory is only sent without a copy if nobody else can write to it. The peer has given more credits than it has
 * posted receives, so a message whose promise has succeeded has not left this host. Later writes to its memory must not reach the
 * peer.
 */
@Timeout(60)
@Tag("immediate-data")
class InPlaceTest {
    private static final byte ORIGINAL = 1;
    private static final byte LATER = 2;
    private static final int MESSAGE = 8 << 10;

    private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
    private RpmaEventLoopGroup group;
    private RawPeer peer;
    private RpmaChannel client;
    private CountDownLatch arrived;

    @BeforeEach
    void connect() throws Exception {
        group = new RpmaEventLoopGroup(1);
        peer = new RawPeer();
        arrived = new CountDownLatch(1);
        ChannelFuture connecting = new Bootstrap().group(group).channel(RpmaChannel.class)
            .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ReferenceCountUtil.release(msg);
                    arrived.countDown();
                }
            }).connect(peer.listen());
        peer.accept(new Handshake(Handshake.MINOR, 0, 16 << 10, RawPeer.SLOTS + 8, 1 << 20).encode());
        client = (RpmaChannel) connecting.sync().channel();
        peer.nextEvent();
    }

    @AfterEach
    void disconnect() throws Exception {
        ResourceLeakDetector.setLevel(level);
        peer.close();
        client.close().sync();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /** Views that share the reference count of their buffer. */
    enum View {
        ITSELF {
            @Override
            ByteBuf of(ByteBuf root) {
                return root;
            }
        },
        SLICE {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.slice();
            }
        },
        SLICE_OF_A_SLICE {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.slice().slice();
            }
        },
        RETAINED_SLICE {
            @Override
            ByteBuf of(ByteBuf root) {
                ByteBuf slice = root.retainedSlice();
                root.release();
                return slice;
            }
        },
        READ_RETAINED_SLICE {
            @Override
            ByteBuf of(ByteBuf root) {
                ByteBuf slice = root.duplicate().readRetainedSlice(root.readableBytes());
                root.release();
                return slice;
            }
        },
        DUPLICATE {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.duplicate();
            }
        },
        READ_ONLY {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.asReadOnly();
            }
        },
        READ_ONLY_SLICE {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.asReadOnly().slice();
            }
        },
        WRAPPED {
            @Override
            ByteBuf of(ByteBuf root) {
                return Unpooled.wrappedBuffer(root);
            }
        },
        LITTLE_ENDIAN {
            @Override
            @SuppressWarnings("deprecation")
            ByteBuf of(ByteBuf root) {
                return root.order(ByteOrder.LITTLE_ENDIAN);
            }
        };

        /** Creates a view that takes over the reference. */
        abstract ByteBuf of(ByteBuf root);
    }

    /** Views that have a separate reference count, or one without a meaning. */
    enum Detached {
        COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return root.alloc().compositeDirectBuffer().addComponent(true, root);
            }
        },
        SLICE_OF_A_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return COMPOSITE.of(root).slice();
            }
        },
        RETAINED_SLICE_OF_A_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                ByteBuf composite = COMPOSITE.of(root);
                ByteBuf slice = composite.readRetainedSlice(composite.readableBytes());
                composite.release();
                return slice;
            }
        },
        DUPLICATE_OF_A_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return COMPOSITE.of(root).duplicate();
            }
        },
        READ_ONLY_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return COMPOSITE.of(root).asReadOnly();
            }
        },
        LITTLE_ENDIAN_COMPOSITE {
            @Override
            @SuppressWarnings("deprecation")
            ByteBuf of(ByteBuf root) {
                return COMPOSITE.of(root).order(ByteOrder.LITTLE_ENDIAN);
            }
        },
        WRAPPED_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return Unpooled.wrappedBuffer(COMPOSITE.of(root));
            }
        },
        NESTED_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return COMPOSITE.of(SLICE_OF_A_COMPOSITE.of(root)).slice();
            }
        },
        UNMODIFIABLE_COMPOSITE {
            @Override
            ByteBuf of(ByteBuf root) {
                return Unpooled.wrappedUnmodifiableBuffer(root.readRetainedSlice(1), root).slice();
            }
        },
        UNRELEASABLE {
            @Override
            ByteBuf of(ByteBuf root) {
                // Such a buffer is never released by its owner.
                root.release();
                return Unpooled.unreleasableBuffer(root);
            }
        },
        SLICE_OF_AN_UNRELEASABLE {
            @Override
            ByteBuf of(ByteBuf root) {
                return UNRELEASABLE.of(root).slice();
            }
        };

        /** Creates a view that takes over the reference. */
        abstract ByteBuf of(ByteBuf root);
    }

    private static ByteBuf filled(int bytes, boolean checked) {
        // With leak detection, Netty wraps each of them in another buffer.
        ResourceLeakDetector.setLevel(checked ? ResourceLeakDetector.Level.PARANOID : ResourceLeakDetector.Level.DISABLED);
        byte[] content = new byte[bytes];
        Arrays.fill(content, ORIGINAL);
        return RpmaByteBufAllocator.DEFAULT.directBuffer(bytes, bytes).writeBytes(content);
    }

    private static byte[] original(int bytes) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, ORIGINAL);
        return content;
    }

    private void useUpReceives() throws InterruptedException {
        for (int i = 0; i < RawPeer.SLOTS; i++) {
            client.writeAndFlush(Unpooled.copyInt(i)).sync();
        }
    }

    private void receiveThose() throws Exception {
        for (int i = 0; i < RawPeer.SLOTS; i++) {
            assertEquals(Immediate.DATA, Immediate.kind(peer.receive()));
        }
        peer.postReceivesAgain();
    }

    /** Grants memory for large data to the client, and waits until the client has received the grant. */
    private void grant() throws Exception {
        ByteBuffer descriptor = peer.descriptor();
        byte[] grant = ByteBuffer.allocate(1 + descriptor.remaining()).put((byte) 0).put(descriptor).array();
        peer.send(grant, Immediate.of(Immediate.GRANT, 0));
        peer.send(10, Immediate.of(Immediate.DATA, 0));
        assertTrue(arrived.await(20, TimeUnit.SECONDS));
    }

    private void arrivesAsItWas(ByteBuf message, ByteBuf kept) throws Exception {
        int bytes = message.readableBytes();
        useUpReceives();
        client.writeAndFlush(message).sync();
        for (int i = 0; i < kept.capacity(); i++) {
            kept.setByte(i, LATER);
        }
        receiveThose();
        assertEquals(Immediate.DATA, Immediate.kind(peer.receive()));
        assertArrayEquals(original(bytes), peer.received(peer.receivedBytes()));
        assertEquals(0, client.counters().sendCopiesAvoided());
    }

    private void largeDataArrivesAsItWas(ByteBuf message, ByteBuf kept) throws Exception {
        int bytes = message.readableBytes();
        grant();
        useUpReceives();
        client.writeAndFlush(message).sync();
        for (int i = 0; i < kept.capacity(); i++) {
            kept.setByte(i, LATER);
        }
        receiveThose();
        assertEquals(Immediate.BULK, Immediate.kind(peer.receive()));
        assertEquals(bytes, peer.receivedBytes());
        assertArrayEquals(original(bytes), peer.memory(bytes));
        assertEquals(0, client.counters().sendCopiesAvoided());
    }

    private static void check(ByteBuf kept) {
        kept.release();
        assertEquals(0, kept.refCnt());
    }

    @ParameterizedTest
    @EnumSource(View.class)
    void whatNobodyElseHoldsIsSentFromWhereItLies(View view) throws Exception {
        for (boolean checked : new boolean[] {false, true}) {
            long before = client.counters().sendCopiesAvoided();
            client.writeAndFlush(view.of(filled(MESSAGE, checked))).sync();
            peer.receive();
            assertArrayEquals(original(MESSAGE), peer.received(peer.receivedBytes()));
            assertEquals(before + 1, client.counters().sendCopiesAvoided());
        }
    }

    @ParameterizedTest
    @EnumSource(View.class)
    void whatIsRetainedIsCopied(View view) throws Exception {
        ByteBuf root = filled(MESSAGE, false);
        arrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }

    @ParameterizedTest
    @EnumSource(View.class)
    void whatIsRetainedAndCheckedForLeaksIsCopied(View view) throws Exception {
        ByteBuf root = filled(MESSAGE, true);
        arrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }

    @ParameterizedTest
    @EnumSource(Detached.class)
    void whatMayBeRetainedIsCopied(Detached view) throws Exception {
        ByteBuf root = filled(MESSAGE, false);
        arrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }

    @ParameterizedTest
    @EnumSource(Detached.class)
    void whatMayBeRetainedAndIsCheckedForLeaksIsCopied(Detached view) throws Exception {
        ByteBuf root = filled(MESSAGE, true);
        arrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }

    @ParameterizedTest
    @EnumSource(View.class)
    void largeDataThatIsRetainedIsCopied(View view) throws Exception {
        ByteBuf root = filled(StreamSender.BULK_BYTES, false);
        largeDataArrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }

    @ParameterizedTest
    @EnumSource(Detached.class)
    void largeDataThatMayBeRetainedIsCopied(Detached view) throws Exception {
        ByteBuf root = filled(StreamSender.BULK_BYTES + 1, false);
        largeDataArrivesAsItWas(view.of(root.retain()), root);
        check(root);
    }
}
