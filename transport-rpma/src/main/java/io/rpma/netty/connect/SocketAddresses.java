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

package io.rpma.netty.connect;

import io.netty.channel.ChannelException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;

/** Checks and converts the addresses that are passed to channels, as Netty's own channels do. */
public final class SocketAddresses {
    /** The wildcard address that accepts connections to addresses of both families. */
    public static final InetAddress WILDCARD_6 = numeric(new byte[16]);

    private SocketAddresses() {
    }

    /**
     * Checks an address that a channel is to be bound to.
     *
     * @throws UnresolvedAddressException if it is only a name
     * @throws IllegalArgumentException if it is of another kind
     */
    public static InetSocketAddress requireBindable(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new IllegalArgumentException("an address of type " + address.getClass().getName()
                + " cannot be bound to: an InetSocketAddress is needed");
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    /**
     * Refuses a local port: the local address of an RDMA connection follows from its route, and its port cannot be chosen.
     *
     * @throws ChannelException if the port is not 0
     */
    public static void requireNoLocalPort(SocketAddress address) {
        InetSocketAddress inet = requireBindable(address);
        if (inet.getPort() != 0) {
            throw new ChannelException("the local port " + inet.getPort() + " cannot be chosen: the address and the port of"
                + " an outgoing RDMA connection follow from its route; bind to port 0, or do not bind");
        }
    }

    /**
     * Checks an address that a channel is to connect to.
     *
     * @throws UnresolvedAddressException if it is only a name
     * @throws ConnectException if it is of another kind, or has no port
     */
    public static InetSocketAddress requireConnectable(SocketAddress address) throws ConnectException {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new ConnectException("an address of type " + address.getClass().getName()
                + " cannot be connected to: an InetSocketAddress is needed");
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (inet.getPort() == 0) {
            throw new ConnectException("port 0 cannot be connected to");
        }
        return inet;
    }

    /** Returns the same address without its host name: a channel's own address has none. */
    static InetSocketAddress withoutName(InetSocketAddress address) {
        return new InetSocketAddress(withoutName(address.getAddress()), address.getPort());
    }

    /** Returns the same address without its host name. */
    public static InetAddress withoutName(InetAddress address) {
        if (address instanceof Inet6Address six) {
            try {
                if (six.getScopedInterface() != null) {
                    return Inet6Address.getByAddress(null, six.getAddress(), six.getScopedInterface());
                }
                if (six.getScopeId() != 0) {
                    return Inet6Address.getByAddress(null, six.getAddress(), six.getScopeId());
                }
            } catch (UnknownHostException e) {
                throw new AssertionError("the length of the address was valid before", e);
            }
        }
        return numeric(address.getAddress());
    }

    private static InetAddress numeric(byte[] address) {
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has 4 or 16 bytes, this one " + address.length, e);
        }
    }
}
