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

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

class LibrpmaAddressesTest {
    private static final long CONTEXT = 0x7700;

    private final Arena arena = Arena.ofAuto();

    // Writes a struct sockaddr_in or sockaddr_in6 as the kernel does: the family in host order, the port in network order.
    private static void sockaddr(MemorySegment target, int family, int port, byte[] address, int scope) {
        target.set(ValueLayout.JAVA_SHORT, 0, (short) family);
        target.set(ValueLayout.JAVA_BYTE, 2, (byte) (port >> 8));
        target.set(ValueLayout.JAVA_BYTE, 3, (byte) port);
        MemorySegment.copy(address, 0, target, ValueLayout.JAVA_BYTE, address.length == 4 ? 4 : 8, address.length);
        if (address.length == 16) {
            target.set(ValueLayout.JAVA_INT, 24, scope);
        }
    }

    private MemorySegment object(long verbs, long idOffset, MemorySegment id) {
        id.set(ValueLayout.JAVA_LONG, 0, verbs);
        MemorySegment object = arena.allocate(32, 8);
        object.set(ValueLayout.JAVA_LONG, idOffset, id.address());
        return object;
    }

    @Test
    void readsBothSides() throws Exception {
        MemorySegment id = arena.allocate(416, 8);
        sockaddr(id.asSlice(32), 2, 65535, new byte[] {10, 77, 0, (byte) 200}, 0);
        byte[] six = InetAddress.getByName("fd77::1").getAddress();
        sockaddr(id.asSlice(160), 10, 7471, six, 0);
        long object = object(CONTEXT, LibrpmaAddresses.REQUEST_ID, id).address();
        assertEquals(new InetSocketAddress("10.77.0.200", 65535),
            LibrpmaAddresses.local(object, LibrpmaAddresses.REQUEST_ID, CONTEXT));
        assertEquals(new InetSocketAddress("fd77::1", 7471),
            LibrpmaAddresses.remote(object, LibrpmaAddresses.REQUEST_ID, CONTEXT));
        assertEquals(CONTEXT, LibrpmaAddresses.context(object, LibrpmaAddresses.REQUEST_ID));
    }

    @Test
    void keepsTheScopeOfALinkLocalAddress() throws Exception {
        MemorySegment sockaddr = arena.allocate(128, 8);
        sockaddr(sockaddr, 10, 1, InetAddress.getByName("fe80::1").getAddress(), 3);
        assertEquals(3, ((Inet6Address) LibrpmaAddresses.socketAddress(sockaddr).getAddress()).getScopeId());
    }

    @Test
    void takesTheScopeOffEveryOtherAddress() throws Exception {
        byte[] global = InetAddress.getByName("fd77::1").getAddress();
        assertEquals("fd77:0:0:0:0:0:0:1", LibrpmaAddresses.text(Inet6Address.getByAddress(null, global, 3)));
        byte[] linkLocal = InetAddress.getByName("fe80::1").getAddress();
        assertEquals("fe80:0:0:0:0:0:0:1%3", LibrpmaAddresses.text(Inet6Address.getByAddress(null, linkLocal, 3)));
        assertEquals("10.77.0.1", LibrpmaAddresses.text(InetAddress.getByName("10.77.0.1")));
    }

    @Test
    void believesNothingThatDoesNotFit() {
        MemorySegment id = arena.allocate(416, 8);
        sockaddr(id.asSlice(32), 2, 1, new byte[4], 0);
        sockaddr(id.asSlice(160), 27, 1, new byte[4], 0);
        long object = object(CONTEXT, 0, id).address();
        assertNull(LibrpmaAddresses.local(object, 0, CONTEXT + 8), "another device");
        assertNull(LibrpmaAddresses.remote(object, 0, CONTEXT), "an unknown family");
        MemorySegment empty = arena.allocate(32, 8);
        assertNull(LibrpmaAddresses.local(empty.address(), 0, CONTEXT), "no identifier");
        assertEquals(0, LibrpmaAddresses.context(empty.address(), 0));
        empty.set(ValueLayout.JAVA_LONG, 0, 0x1001);
        assertNull(LibrpmaAddresses.local(empty.address(), 0, CONTEXT), "no pointer");
    }
}
