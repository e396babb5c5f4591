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
package io.rpma.librpma;

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionEvent;
import io.rpma.MemoryUsage;
import io.rpma.PeerConfig;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.SharedReceiveQueueConfig;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what the library does without a device: configurations, descriptors, descriptions. */
class LibrpmaConfigTest {
    private RpmaProvider provider;

    @BeforeEach
    void open() throws Exception {
        provider = Library.provider();
    }

    static RpmaException assertRefused(RpmaError error, String message, Executable call) {
        RpmaException e = assertThrows(RpmaException.class, call);
        assertEquals(error, e.error(), e.getMessage());
        assertTrue(e.getMessage().contains(message), () -> "'" + message + "' is not in: " + e.getMessage());
        return e;
    }

    @Test
    void connectionConfigHasTheDefaultsOfTheManual() throws Exception {
        try (ConnectionConfig config = provider.newConnectionConfig()) {
            assertEquals(1000, config.timeoutMillis());
            assertEquals(10, config.completionQueueSize());
            assertEquals(0, config.receiveCompletionQueueSize());
            assertEquals(10, config.sendQueueSize());
            assertEquals(10, config.receiveQueueSize());
            assertFalse(config.isSharedCompletionChannel());
            assertNull(config.sharedReceiveQueue());
        }
    }

    @Test
    void connectionConfigKeepsEachValueApart() throws Exception {
        try (ConnectionConfig config = provider.newConnectionConfig()) {
            assertSame(config, config.timeoutMillis(0).completionQueueSize(1).receiveCompletionQueueSize(2).sendQueueSize(3)
                .receiveQueueSize(Integer.MAX_VALUE).sharedCompletionChannel(true));
            assertEquals(0, config.timeoutMillis());
            assertEquals(1, config.completionQueueSize());
            assertEquals(2, config.receiveCompletionQueueSize());
            assertEquals(3, config.sendQueueSize());
            assertEquals(Integer.MAX_VALUE, config.receiveQueueSize());
            assertTrue(config.isSharedCompletionChannel());
            assertFalse(config.sharedCompletionChannel(false).isSharedCompletionChannel());
        }
    }

    @Test
    void connectionConfigRefusesWhatNoQueueCanBe() throws Exception {
        try (ConnectionConfig config = provider.newConnectionConfig()) {
            assertRefused(RpmaError.INVALID, "the timeout is -1 milliseconds", () -> config.timeoutMillis(-1));
            assertRefused(RpmaError.INVALID, "rpma_conn_cfg_set_cq_size: the size is -7", () -> config.completionQueueSize(-7));
            assertRefused(RpmaError.INVALID, "rpma_conn_cfg_set_rcq_size", () -> config.receiveCompletionQueueSize(-1));
            assertRefused(RpmaError.INVALID, "rpma_conn_cfg_set_sq_size", () -> config.sendQueueSize(Integer.MIN_VALUE));
            assertRefused(RpmaError.INVALID, "rpma_conn_cfg_set_rq_size", () -> config.receiveQueueSize(-1));
            assertRefused(RpmaError.INVALID, "the shared receive queue is null", () -> config.sharedReceiveQueue(null));
            assertEquals(10, config.completionQueueSize());
        }
    }

    @Test
    void sharedReceiveQueueConfigHasTheDefaultsOfTheManual() throws Exception {
        try (SharedReceiveQueueConfig config = provider.newSharedReceiveQueueConfig()) {
            assertEquals(20, config.receiveQueueSize());
            assertEquals(20, config.receiveCompletionQueueSize());
            assertSame(config, config.receiveQueueSize(1).receiveCompletionQueueSize(0));
            assertEquals(1, config.receiveQueueSize());
            assertEquals(0, config.receiveCompletionQueueSize());
            assertRefused(RpmaError.INVALID, "rpma_srq_cfg_set_rq_size: the size is -1", () -> config.receiveQueueSize(-1));
            assertRefused(RpmaError.INVALID, "rpma_srq_cfg_set_rcq_size", () -> config.receiveCompletionQueueSize(-1));
        }
    }

    @Test
    void closingAgainDoesNothingAndUsingIsRefused() throws Exception {
        ConnectionConfig connection = provider.newConnectionConfig();
        SharedReceiveQueueConfig queue = provider.newSharedReceiveQueueConfig();
        PeerConfig peer = provider.newPeerConfig();
        RemoteMemoryRegion region = provider.openRemoteRegion(regionDescriptor(64, 255));
        for (AutoCloseable closeable : new AutoCloseable[] {connection, queue, peer, region}) {
            closeable.close();
            closeable.close();
        }
        assertRefused(RpmaError.INVALID, "the connection configuration is closed", connection::sendQueueSize);
        assertRefused(RpmaError.INVALID, "the connection configuration is closed", () -> connection.sendQueueSize(1));
        assertRefused(RpmaError.INVALID, "the connection configuration is closed", connection::sharedReceiveQueue);
        assertRefused(RpmaError.INVALID, "the shared receive queue configuration is closed", queue::receiveQueueSize);
        assertRefused(RpmaError.INVALID, "the peer configuration is closed", peer::isDirectWriteToPmem);
        assertRefused(RpmaError.INVALID, "the remote memory region is closed", () -> LibrpmaRemoteMemoryRegion.pointer(region));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void peerConfigGoesThroughItsDescriptor(boolean directWriteToPmem) throws Exception {
        try (PeerConfig config = provider.newPeerConfig()) {
            assertFalse(config.isDirectWriteToPmem());
            assertSame(config, config.directWriteToPmem(directWriteToPmem));
            ByteBuffer descriptor = ByteBuffer.allocate(config.descriptorSize() + 2);
            descriptor.put((byte) 77);
            config.descriptor(descriptor);
            assertEquals(1, descriptor.remaining());
            descriptor.flip().position(1);
            try (PeerConfig opened = provider.peerConfigFromDescriptor(descriptor)) {
                assertEquals(directWriteToPmem, opened.isDirectWriteToPmem());
            }
            assertEquals(1, descriptor.position());
        }
    }

    /** The same holds for the other providers, as the contract says. */
    @Test
    void onlyTheFirstByteOfAPeerConfigDescriptorIsRead() throws Exception {
        try (PeerConfig opened = provider.peerConfigFromDescriptor(ByteBuffer.wrap(new byte[] {0, 1}))) {
            assertFalse(opened.isDirectWriteToPmem());
        }
        try (PeerConfig opened = provider.peerConfigFromDescriptor(ByteBuffer.wrap(new byte[] {2, 0, 0}))) {
            assertTrue(opened.isDirectWriteToPmem());
        }
    }

    @Test
    void peerConfigRefusesBuffersThatDoNotFit() throws Exception {
        try (PeerConfig config = provider.newPeerConfig()) {
            assertRefused(RpmaError.INVALID, "has room for 0", () -> config.descriptor(ByteBuffer.allocate(0)));
            assertRefused(RpmaError.INVALID, "is null", () -> config.descriptor(null));
            assertRefused(RpmaError.INVALID, "is read-only", () -> config.descriptor(ByteBuffer.allocate(9).asReadOnlyBuffer()));
        }
        assertRefused(RpmaError.INVALID, "the descriptor has 0 bytes",
            () -> provider.peerConfigFromDescriptor(ByteBuffer.allocate(0)));
        assertRefused(RpmaError.INVALID, "is null", () -> provider.peerConfigFromDescriptor(null));
    }

    private static ByteBuffer regionDescriptor(long size, int usages) {
        return ByteBuffer.allocate(21).order(ByteOrder.LITTLE_ENDIAN).putLong(0x7f0011223344L).putLong(size).putInt(0xcafe)
            .put((byte) usages).flip();
    }

    @Test
    void remoteRegionIsWhatItsDescriptorSays() throws Exception {
        int usages = MemoryUsage.bits(Set.of(MemoryUsage.WRITE_DST, MemoryUsage.FLUSH_VISIBILITY));
        // The descriptor is not at the start of the direct buffer. Only the remaining bytes count, and they stay readable.
        ByteBuffer descriptor = ByteBuffer.allocateDirect(24);
        descriptor.position(3).put(regionDescriptor(1L << 40, usages)).flip().position(3);
        try (RemoteMemoryRegion region = provider.openRemoteRegion(descriptor)) {
            assertEquals(1L << 40, region.size());
            assertEquals(Set.of(MemoryUsage.FLUSH_VISIBILITY), region.flushUsages());
            assertEquals(21, descriptor.remaining());
        }
        try (RemoteMemoryRegion region = provider.openRemoteRegion(regionDescriptor(0, 128))) {
            assertEquals(0, region.size());
            assertEquals(Set.of(), region.flushUsages());
        }
    }

    @Test
    void garbageIsNoRemoteRegion() {
        assertRefused(RpmaError.INVALID, "is null", () -> provider.openRemoteRegion(null));
        assertRefused(RpmaError.INVALID, "has 20 bytes; it must have 21",
            () -> provider.openRemoteRegion(regionDescriptor(64, 1).limit(20)));
        assertRefused(RpmaError.INVALID, "has 22 bytes; it must have 21",
            () -> provider.openRemoteRegion(ByteBuffer.allocate(22)));
        assertRefused(RpmaError.INVALID, "not a descriptor of a memory region", () -> provider.openRemoteRegion(
            regionDescriptor(64, 0)));
        assertRefused(RpmaError.INVALID, "18446744073709551615 bytes", () -> provider.openRemoteRegion(regionDescriptor(-1, 1)));
    }

    @ParameterizedTest
    @EnumSource(RpmaError.class)
    void everyErrorHasItsOwnWords(RpmaError error) {
        String words = provider.describe(error);
        assertFalse(words.isBlank());
        for (RpmaError other : RpmaError.values()) {
            if (other != error) {
                assertNotEquals(words, provider.describe(other));
            }
        }
    }

    @Test
    void wordsAreTheLibrarysOwn() {
        assertEquals("Connection established", provider.describe(ConnectionEvent.ESTABLISHED));
        assertEquals("Connection unreachable", provider.describe(ConnectionEvent.UNREACHABLE));
        assertEquals("Invalid argument", provider.describe(RpmaError.INVALID));
    }
}
