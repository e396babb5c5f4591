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

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * The addresses of endpoints and connections, for which librpma has no functions: they are read from the {@code struct
 * rdma_cm_id} that its private structures point to. The layout of these is the same in all of librpma 1.x, and {@link
 * LibrpmaLibrary} has checked the version. An address is used only if the identifier refers to the expected device and the
 * address family is known.
 */
final class LibrpmaAddresses {
    // The offsets of the struct rdma_cm_id * in struct rpma_ep, rpma_conn_req and rpma_conn.
    static final long ENDPOINT_ID = 8;
    static final long REQUEST_ID = 8;
    static final long CONNECTION_ID = 0;

    // struct rdma_cm_id: verbs, and route.addr.src_addr and dst_addr, each a struct sockaddr_storage.
    private static final long ID_VERBS = 0;
    private static final long ID_LOCAL = 32;
    private static final long ID_REMOTE = 160;
    private static final long ID_READ = 288;

    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt SCOPE = ValueLayout.JAVA_INT;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;

    private LibrpmaAddresses() {
    }

    /**
     * Returns the device that an object's identifier is bound to, 0 for none.
     *
     * @param object the endpoint, request or connection
     * @param idOffset the offset of its identifier
     */
    static long context(long object, long idOffset) {
        MemorySegment id = id(object, idOffset);
        return id == null ? 0 : id.get(JAVA_LONG, ID_VERBS);
    }

    /** Returns the address of this side, or {@code null} if it cannot be determined. */
    static InetSocketAddress local(long object, long idOffset, long context) {
        return read(object, idOffset, context, ID_LOCAL);
    }

    /** Returns the address of the other side, or {@code null} if it cannot be determined. */
    static InetSocketAddress remote(long object, long idOffset, long context) {
        return read(object, idOffset, context, ID_REMOTE);
    }

    private static InetSocketAddress read(long object, long idOffset, long context, long offset) {
        MemorySegment id = id(object, idOffset);
        if (id == null || id.get(JAVA_LONG, ID_VERBS) != context) {
            return null;
        }
        return socketAddress(id.asSlice(offset));
    }

    private static MemorySegment id(long object, long idOffset) {
        long id = MemorySegment.ofAddress(object).reinterpret(idOffset + ADDRESS.byteSize()).get(JAVA_LONG, idOffset);
        return id == 0 || (id & 7) != 0 ? null : MemorySegment.ofAddress(id).reinterpret(ID_READ);
    }

    /** Reads a {@code struct sockaddr_in} or {@code sockaddr_in6}; {@code null} if it is neither. */
    static InetSocketAddress socketAddress(MemorySegment sockaddr) {
        int port = Short.toUnsignedInt(sockaddr.get(PORT, 2));
        return switch (sockaddr.get(JAVA_SHORT, 0)) {
            case AF_INET -> new InetSocketAddress(address(sockaddr.asSlice(4, 4).toArray(JAVA_BYTE), 0), port);
            case AF_INET6 -> new InetSocketAddress(address(sockaddr.asSlice(8, 16).toArray(JAVA_BYTE), sockaddr.get(SCOPE, 24)),
                port);
            default -> null;
        };
    }

    private static InetAddress address(byte[] bytes, int scope) {
        try {
            return scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("the address must have 4 or 16 bytes", e);
        }
    }

    /**
     * Returns an address without the scope that Java adds to every IPv6 address of an interface. Only a link-local address needs
     * one; the C library does not accept it on any other.
     */
    static InetAddress withoutScope(InetAddress address) {
        return address instanceof Inet6Address && !address.isLinkLocalAddress() ? address(address.getAddress(), 0) : address;
    }

    /** Returns an address in numeric form, for which the library makes no name lookup. */
    static String text(InetAddress address) {
        return withoutScope(address).getHostAddress();
    }
}
