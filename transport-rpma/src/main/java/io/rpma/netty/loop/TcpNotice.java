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

package io.rpma.netty.loop;

import io.netty.channel.Channel;
import io.netty.channel.IoHandle;
import io.netty.channel.epoll.AbstractEpollServerChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.rpma.Device;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Logs once for each process that a TCP channel runs on a loop of this transport although RPMA could carry its data. The loops
 * accept epoll's channels, so a framework that asks a group which channels it is compatible with may choose TCP without notice.
 */
public final class TcpNotice {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance("io.rpma.netty.TcpNotice");
    /** How many channels are examined. A process with this many that RPMA could not carry uses TCP on purpose. */
    private static final int MOST_CHANNELS = 256;
    /** The loader of the agent, whose options decide which channels use TCP. The application cannot choose others. */
    private static final String LOADER_OF_AGENT = "io.rpma.agent.TransportLoader";
    // 0 after the message has been logged.
    private static final AtomicInteger CHANNELS_LEFT = new AtomicInteger(isLoadedByAgent() ? 0 : MOST_CHANNELS);
    private static final AtomicBoolean SAID = new AtomicBoolean();

    private final Channel.Unsafe channel;
    private final boolean listens;

    private TcpNotice(Channel.Unsafe channel, boolean listens) {
        this.channel = channel;
        this.listens = listens;
    }

    private static boolean isLoadedByAgent() {
        ClassLoader loader = TcpNotice.class.getClassLoader();
        return loader != null && loader.getClass().getName().equals(LOADER_OF_AGENT);
    }

    /** Returns the notice of a channel, or {@code null} if no message is needed for it. */
    public static TcpNotice of(IoHandle handle) {
        Class<?> owner = handle.getClass().getEnclosingClass();
        if (CHANNELS_LEFT.get() <= 0 || owner == null || !(handle instanceof Channel.Unsafe channel)) {
            return null;
        }
        boolean listens = AbstractEpollServerChannel.class.isAssignableFrom(owner);
        return listens || EpollSocketChannel.class.isAssignableFrom(owner) ? new TcpNotice(channel, listens) : null;
    }

    /**
     * Checks whether the channel listens or is connected by now; called on its loop. Returns whether nothing more is to be
     * done.
     */
    boolean isSettled() {
        SocketAddress local = channel.localAddress();
        SocketAddress remote = channel.remoteAddress();
        if (local == null || remote == null && !listens) {
            return false;
        }
        // Domain sockets have other addresses.
        if (local instanceof InetSocketAddress own && (listens || remote instanceof InetSocketAddress)
                && CHANNELS_LEFT.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            InetSocketAddress peer = listens ? null : (InetSocketAddress) remote;
            // Listing the devices may take a while.
            GlobalEventExecutor.INSTANCE.execute(() -> sayIfItCouldBeRpma(own, peer));
        }
        return true;
    }

    private static void sayIfItCouldBeRpma(InetSocketAddress local, InetSocketAddress remote) {
        try {
            if (remote != null && !isOnThisHost(local.getAddress(), remote.getAddress()) && !isOnDevice(local.getAddress())) {
                return;
            }
        } catch (RpmaException | RuntimeException e) {
            LOGGER.debug("Whether RPMA could carry the TCP connection of {} to {} is not known.", local, remote, e);
            return;
        }
        if (SAID.compareAndSet(false, true)) {
            CHANNELS_LEFT.set(0);
            LOGGER.info("A TCP channel {} {} on an event loop of RPMA, and its data does not go over RPMA. If a framework has"
                + " chosen epoll's channels because this group accepts them, configure it to create RpmaServerChannel and"
                + " RpmaChannel (docs/swapping.md describes how). If this is intended, nothing has to be done. This is logged"
                + " once.",
                remote == null ? "listens at" : "is connected to", remote == null ? local : remote);
        }
    }

    private static boolean isOnThisHost(InetAddress local, InetAddress remote) {
        return remote.isLoopbackAddress() || remote.equals(local);
    }

    /** Returns whether a connection uses a network of an RDMA device. */
    private static boolean isOnDevice(InetAddress local) throws RpmaException {
        if (!Rpma.isAvailable()) {
            return false;
        }
        for (Device device : Rpma.provider().devices()) {
            if (device.addresses().contains(local)) {
                return true;
            }
        }
        return false;
    }
}
