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

import io.rpma.Device;
import io.rpma.DeviceLimits;
import io.rpma.Peer;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.rpma.RpmaError.INVALID;
import static io.rpma.RpmaError.PROVIDER;
import static io.rpma.contract.Contract.DEVICE;
import static io.rpma.contract.Contract.HOST;
import static io.rpma.contract.Contract.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests devices, their limits and addresses, and peers. */
class DeviceContractTest extends ContractCase {
    @Test
    void thereIsADevice() throws Exception {
        List<Device> devices = Contract.PROVIDER.devices();
        assertFalse(devices.isEmpty());
        for (Device device : devices) {
            assertFalse(device.name().isBlank());
        }
        assertTrue(devices.stream().anyMatch(device -> device.name().equals(DEVICE.name())), devices::toString);
    }

    /** ibv_query_device(3): the limits permit librpma's default configuration. */
    @Test
    void limitsAreThoseOfAUsableDevice() {
        DeviceLimits limits = DEVICE.limits();
        assertTrue(limits.maxQueuePairs() >= 64, limits::toString);
        assertTrue(limits.maxQueuePairWorkRequests() >= 128, limits::toString);
        assertTrue(limits.maxCompletionQueues() >= 64, limits::toString);
        assertTrue(limits.maxCompletionQueueSize() >= 256, limits::toString);
        assertTrue(limits.maxSharedReceiveQueueWorkRequests() >= 128, limits::toString);
        assertTrue(limits.maxMemoryRegions() >= 64, limits::toString);
        assertTrue(limits.maxMemoryRegionSize() >= 1 << 20, limits::toString);
        assertTrue(limits.maxMessageSize() >= 1 << 20, limits::toString);
    }

    @Test
    void addressesOfTheDeviceLeadToIt() throws Exception {
        for (InetAddress address : DEVICE.addresses()) {
            assertEquals(DEVICE.name(), Contract.PROVIDER.localDevice(address).name(), address::toString);
        }
    }

    /** rpma_utils_get_ibv_context(3): RPMA_UTIL_IBV_CONTEXT_LOCAL. */
    @Test
    void localAddressGivesTheDevice() throws Exception {
        assertEquals(DEVICE.name(), Contract.PROVIDER.localDevice(HOST).name());
    }

    /** rpma_utils_get_ibv_context(3): RPMA_E_PROVIDER - rdma_bind_addr() failed. */
    @Test
    void foreignAddressIsNoLocalDevice() {
        refused(PROVIDER, () -> Contract.PROVIDER.localDevice(Contract.FOREIGN));
    }

    /** librpma itself returns success and a NULL context for these addresses; here they stand for any device of this host. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "0.0.0.0", "::"})
    void loopbackAndWildcardStandForAnyDevice(String literal) throws Exception {
        Device device = Contract.PROVIDER.localDevice(InetAddress.getByName(literal));
        assertFalse(device.name().isBlank());
        scope.own(device.newPeer());
    }

    /** rpma_utils_get_ibv_context(3): RPMA_UTIL_IBV_CONTEXT_REMOTE. */
    @Test
    void remoteAddressGivesTheDeviceThatReachesIt() throws Exception {
        assertEquals(DEVICE.name(), Contract.PROVIDER.remoteDevice(HOST).name());
    }

    /** rpma_utils_get_ibv_context(3): RPMA_E_INVAL - addr is NULL. */
    @Test
    void noAddressIsRefused() {
        refused(INVALID, () -> Contract.PROVIDER.localDevice(null));
        refused(INVALID, () -> Contract.PROVIDER.remoteDevice(null));
        refused(INVALID, () -> Contract.PROVIDER.reachable(null));
    }

    @Test
    void reachableAddressIsOneToListenAndConnectTo() throws Exception {
        for (String literal : new String[] {"127.0.0.1", "0.0.0.0"}) {
            InetAddress reachable = Contract.PROVIDER.reachable(InetAddress.getByName(literal));
            assertEquals(reachable, Contract.PROVIDER.reachable(reachable), "a reachable address is returned unchanged");
            assertEquals(DEVICE.name(), Contract.PROVIDER.localDevice(reachable).name());
        }
    }

    @Test
    void reachableLeavesOtherAddressesAlone() throws Exception {
        assertEquals(Contract.FOREIGN, Contract.PROVIDER.reachable(Contract.FOREIGN));
        assertEquals(HOST, Contract.PROVIDER.reachable(HOST));
    }

    /** rpma_utils_ibv_context_is_odp_capable(3): the answer is stable. */
    @Test
    void onDemandPagingCanBeAskedFor() throws Exception {
        assertEquals(DEVICE.isOnDemandPagingCapable(), DEVICE.isOnDemandPagingCapable());
    }

    /** rpma_peer_new(3). */
    @Test
    void peersOfOneDeviceAreIndependent() throws Exception {
        Peer first = DEVICE.newPeer();
        Peer second = scope.own(DEVICE.newPeer());
        assertNotSame(first, second);
        assertSame(DEVICE.name(), first.device().name());
        first.close();
        try (Pair pair = Pair.with().peer(second).connect()) {
            pair.exchange();
        }
    }

    @Test
    void peerClosesTwice() throws Exception {
        Peer peer = DEVICE.newPeer();
        peer.close();
        peer.close();
    }
}
