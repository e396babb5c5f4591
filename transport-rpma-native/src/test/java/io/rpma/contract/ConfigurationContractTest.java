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
package io.rpma.contract;

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.PeerConfig;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.contract.Contract.PROVIDER;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the configurations of connections, shared receive queues and peers. */
class ConfigurationContractTest extends ContractCase {
    /** rpma_conn_cfg_new(3): the default values. */
    @Test
    void connectionDefaults() throws Exception {
        ConnectionConfig config = defaults();
        assertEquals(1000, config.timeoutMillis());
        assertEquals(10, config.completionQueueSize());
        assertEquals(0, config.receiveCompletionQueueSize());
        assertEquals(10, config.sendQueueSize());
        assertEquals(10, config.receiveQueueSize());
        assertFalse(config.isSharedCompletionChannel());
        assertNull(config.sharedReceiveQueue());
    }

    /** rpma_conn_cfg_set_*(3), rpma_conn_cfg_get_*(3). */
    @Test
    void connectionValuesAreKept() throws Exception {
        ConnectionConfig config = config();
        assertSame(config, config.timeoutMillis(0).completionQueueSize(1).receiveCompletionQueueSize(2).sendQueueSize(3)
            .receiveQueueSize(4).sharedCompletionChannel(true));
        assertEquals(0, config.timeoutMillis());
        assertEquals(1, config.completionQueueSize());
        assertEquals(2, config.receiveCompletionQueueSize());
        assertEquals(3, config.sendQueueSize());
        assertEquals(4, config.receiveQueueSize());
        assertTrue(config.isSharedCompletionChannel());
        assertFalse(config.sharedCompletionChannel(false).isSharedCompletionChannel());
        assertEquals(Integer.MAX_VALUE, config.timeoutMillis(Integer.MAX_VALUE).timeoutMillis());
    }

    /** rpma_conn_cfg_set_timeout(3): RPMA_E_INVAL - timeout_ms &lt; 0. */
    @Test
    void negativeTimeoutIsRefused() throws Exception {
        ConnectionConfig config = defaults();
        refused(INVALID, () -> config.timeoutMillis(-1));
        refused(INVALID, () -> config.timeoutMillis(Integer.MIN_VALUE));
        assertEquals(1000, config.timeoutMillis());
    }

    /** The sizes are unsigned in C, so a negative size would be a value of about four thousand million. */
    @Test
    void negativeSizesAreRefused() throws Exception {
        ConnectionConfig config = config();
        refused(INVALID, () -> config.completionQueueSize(-1));
        refused(INVALID, () -> config.receiveCompletionQueueSize(-1));
        refused(INVALID, () -> config.sendQueueSize(-1));
        refused(INVALID, () -> config.receiveQueueSize(-1));
        assertEquals(10, config.completionQueueSize());
        assertEquals(0, config.receiveCompletionQueueSize());
        assertEquals(10, config.sendQueueSize());
        assertEquals(10, config.receiveQueueSize());
    }

    /** rpma_conn_cfg_set_srq(3): RPMA_E_INVAL - srq is NULL; what was set cannot be taken back. */
    @Test
    void sharedReceiveQueueIsKeptAndNullRefused() throws Exception {
        SharedReceiveQueue queue = scope.own(peer().newSharedReceiveQueue(null));
        ConnectionConfig config = config();
        refused(INVALID, () -> config.sharedReceiveQueue(null));
        assertNull(config.sharedReceiveQueue());
        assertSame(config, config.sharedReceiveQueue(queue));
        assertSame(queue, config.sharedReceiveQueue());
        refused(INVALID, () -> config.sharedReceiveQueue(null));
        assertSame(queue, config.sharedReceiveQueue());
    }

    /** rpma_conn_cfg_delete(3). */
    @Test
    void closedConnectionConfigIsRefused() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionConfig config = PROVIDER.newConnectionConfig();
        config.close();
        config.close();
        Executable[] uses = {config::timeoutMillis, config::completionQueueSize, config::receiveCompletionQueueSize,
            config::sendQueueSize, config::receiveQueueSize, config::isSharedCompletionChannel, config::sharedReceiveQueue,
            () -> config.timeoutMillis(1), () -> config.completionQueueSize(1), () -> config.receiveCompletionQueueSize(1),
            () -> config.sendQueueSize(1), () -> config.receiveQueueSize(1), () -> config.sharedCompletionChannel(true),
            () -> peer().newConnectionRequest(endpoint.localAddress(), config),
            () -> endpoint.nextConnectionRequest(config)};
        for (Executable use : uses) {
            refused(INVALID, use);
        }
    }

    /** rpma_conn_req_new(3): the configuration is read, not kept. */
    @Test
    void configMayChangeAndCloseAfterTheRequest() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionConfig config = PROVIDER.newConnectionConfig().receiveQueueSize(4).receiveCompletionQueueSize(4);
        ConnectionRequest request = scope.own(peer().newConnectionRequest(endpoint.localAddress(), config));
        config.receiveQueueSize(1).receiveCompletionQueueSize(0);
        config.close();
        LocalMemoryRegion region = region(4096);
        for (int i = 0; i < 4; i++) {
            request.receive(region, i * 64, 64, i);
        }
        assertTrue(scope.own(request.connect(null)).receiveCompletionQueue() != null);
    }

    /** rpma_conn_req_new(3), rpma_ep_next_conn_req(3): if cfg is NULL, then the default values are used. */
    @Test
    void noConfigMeansDefaults() throws Exception {
        Endpoint endpoint = endpoint();
        ConnectionRequest outgoing = scope.own(peer().newConnectionRequest(endpoint.localAddress(), null));
        LocalMemoryRegion region = region(4096);
        for (int i = 0; i < 10; i++) {
            outgoing.receive(region, i * 64, 64, i);
        }
        assertNull(scope.own(outgoing.connect(null)).receiveCompletionQueue());
        ConnectionRequest incoming = scope.own(Wait.request(endpoint, null));
        for (int i = 0; i < 10; i++) {
            incoming.receive(region, i * 64, 64, i);
        }
    }

    /** Measured: 20 and 20; the man page of rpma_srq_cfg_new(3) says 100 and 100. */
    @Test
    void sharedReceiveQueueDefaults() throws Exception {
        try (SharedReceiveQueueConfig config = PROVIDER.newSharedReceiveQueueConfig()) {
            assertEquals(20, config.receiveQueueSize());
            assertEquals(20, config.receiveCompletionQueueSize());
        }
    }

    /** rpma_srq_cfg_set_rq_size(3), rpma_srq_cfg_set_rcq_size(3). */
    @Test
    void sharedReceiveQueueValuesAreKept() throws Exception {
        try (SharedReceiveQueueConfig config = PROVIDER.newSharedReceiveQueueConfig()) {
            assertSame(config, config.receiveQueueSize(5).receiveCompletionQueueSize(0));
            assertEquals(5, config.receiveQueueSize());
            assertEquals(0, config.receiveCompletionQueueSize());
            refused(INVALID, () -> config.receiveQueueSize(-1));
            refused(INVALID, () -> config.receiveCompletionQueueSize(-1));
        }
    }

    /** rpma_srq_cfg_delete(3). */
    @Test
    void closedSharedReceiveQueueConfigIsRefused() throws Exception {
        SharedReceiveQueueConfig config = PROVIDER.newSharedReceiveQueueConfig();
        config.close();
        config.close();
        refused(INVALID, config::receiveQueueSize);
        refused(INVALID, config::receiveCompletionQueueSize);
        refused(INVALID, () -> config.receiveQueueSize(1));
        refused(INVALID, () -> config.receiveCompletionQueueSize(1));
        refused(INVALID, () -> peer().newSharedReceiveQueue(config));
    }

    /** rpma_peer_cfg_new(3): not supported by default. */
    @Test
    void directWriteToPmemIsOffAtFirst() throws Exception {
        try (PeerConfig config = PROVIDER.newPeerConfig()) {
            assertFalse(config.isDirectWriteToPmem());
            assertSame(config, config.directWriteToPmem(true));
            assertTrue(config.isDirectWriteToPmem());
            assertFalse(config.directWriteToPmem(false).isDirectWriteToPmem());
        }
    }

    /** rpma_peer_cfg_get_descriptor(3), rpma_peer_cfg_from_descriptor(3): one byte. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void peerConfigTravelsInItsDescriptor(boolean supported) throws Exception {
        try (PeerConfig config = PROVIDER.newPeerConfig().directWriteToPmem(supported)) {
            assertEquals(1, config.descriptorSize());
            ByteBuffer descriptor = ByteBuffer.allocate(3).position(1);
            config.descriptor(descriptor);
            assertEquals(2, descriptor.position());
            assertArrayEquals(new byte[] {0, (byte) (supported ? 1 : 0), 0}, descriptor.array());
            descriptor.flip().position(1);
            try (PeerConfig opened = PROVIDER.peerConfigFromDescriptor(descriptor)) {
                assertEquals(supported, opened.isDirectWriteToPmem());
                assertEquals(1, descriptor.position(), "the position does not move");
            }
            ByteBuffer direct = ByteBuffer.allocateDirect(1);
            config.descriptor(direct);
            try (PeerConfig opened = PROVIDER.peerConfigFromDescriptor(direct.flip().asReadOnlyBuffer())) {
                assertEquals(supported, opened.isDirectWriteToPmem());
            }
        }
    }

    /** rpma_peer_cfg_from_descriptor(3): RPMA_E_INVAL - desc is NULL or too short. */
    @Test
    void truncatedPeerConfigDescriptorIsRefused() {
        refused(INVALID, () -> PROVIDER.peerConfigFromDescriptor(ByteBuffer.allocate(0)));
        refused(INVALID, () -> PROVIDER.peerConfigFromDescriptor(null));
    }

    /** rpma_peer_cfg_from_descriptor(3) only refuses fewer bytes, so that a later version can append some; any bit means yes. */
    @Test
    void onlyTheFirstByteOfAPeerConfigDescriptorIsRead() throws Exception {
        try (PeerConfig opened = PROVIDER.peerConfigFromDescriptor(ByteBuffer.wrap(new byte[] {0, 1}))) {
            assertFalse(opened.isDirectWriteToPmem());
        }
        try (PeerConfig opened = PROVIDER.peerConfigFromDescriptor(ByteBuffer.wrap(new byte[] {2, 0, 0}))) {
            assertTrue(opened.isDirectWriteToPmem());
        }
    }

    /** rpma_peer_cfg_get_descriptor(3): RPMA_E_INVAL - desc is NULL; here a buffer also knows its end. */
    @Test
    void peerConfigDescriptorNeedsRoom() throws Exception {
        try (PeerConfig config = PROVIDER.newPeerConfig()) {
            refused(INVALID, () -> config.descriptor(ByteBuffer.allocate(0)));
            refused(INVALID, () -> config.descriptor(null));
            refused(INVALID, () -> config.descriptor(ByteBuffer.allocate(1).asReadOnlyBuffer()));
        }
    }

    /** rpma_peer_cfg_delete(3). */
    @Test
    void closedPeerConfigIsRefused() throws Exception {
        PeerConfig config = PROVIDER.newPeerConfig();
        config.close();
        config.close();
        refused(INVALID, config::isDirectWriteToPmem);
        refused(INVALID, () -> config.directWriteToPmem(true));
        refused(INVALID, config::descriptorSize);
        refused(INVALID, () -> config.descriptor(ByteBuffer.allocate(1)));
        Pair pair = pair();
        refused(INVALID, () -> pair.client.applyRemotePeerConfig(config));
    }
}
