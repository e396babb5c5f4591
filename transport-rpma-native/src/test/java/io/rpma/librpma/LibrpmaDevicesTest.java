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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Tests the choice among several devices of a host, of which some fail. */
class LibrpmaDevicesTest {
    private static final RpmaException FAILURE = new RpmaException(RpmaError.PROVIDER, 5, "ibv_query_device failed", null);

    private final Set<String> withoutDevice = Set.of("192.0.2.9");

    private static InetAddress address(int host) throws Exception {
        return InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, (byte) host});
    }

    /** Gives each address the device of its last digit, which may fail in two ways or be without an active port. */
    private LibrpmaDevices.Query<String> devices(Set<String> unknown, Set<String> failing, Set<String> inactive) {
        return new LibrpmaDevices.Query<>() {
            @Override
            public String deviceOf(InetAddress address) throws RpmaException {
                String host = address.getHostAddress();
                String device = "device" + host.charAt(host.length() - 1);
                if (unknown.contains(device)) {
                    throw FAILURE;
                }
                return withoutDevice.contains(host) ? null : device;
            }

            @Override
            public boolean hasActivePort(String device) throws RpmaException {
                if (failing.contains(device)) {
                    throw FAILURE;
                }
                return !inactive.contains(device);
            }
        };
    }

    @Test
    void aFailingDeviceDoesNotHideTheOthers() throws Exception {
        List<InetAddress> addresses = List.of(address(1), address(2), address(3), address(4), address(9), address(13));
        assertEquals(Map.of("device3", List.of(address(3), address(13))),
            LibrpmaDevices.usable(addresses, devices(Set.of("device1"), Set.of("device2"), Set.of("device4"))));
    }

    @Test
    void theFailureIsReportedIfNoDeviceIsLeft() throws Exception {
        List<InetAddress> addresses = List.of(address(1), address(4), address(9));
        assertSame(FAILURE, assertThrows(RpmaException.class,
            () -> LibrpmaDevices.usable(addresses, devices(Set.of(), Set.of("device1"), Set.of("device4")))));
        assertSame(FAILURE, assertThrows(RpmaException.class,
            () -> LibrpmaDevices.usable(addresses, devices(Set.of("device1"), Set.of(), Set.of("device4")))));
    }

    @Test
    void thereMayBeNoDevice() throws Exception {
        assertEquals(Map.of(), LibrpmaDevices.usable(List.of(address(4), address(9)),
            devices(Set.of(), Set.of(), Set.of("device4"))));
    }
}
