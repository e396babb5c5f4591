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

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Warns once for each remote host that connections to it take TCP although this process has an RDMA device. Thread-safe.
 */
final class TcpFallback {
    /** The largest number of hosts that are remembered. The least recently connected one is removed first. */
    static final int MOST_HOSTS = 1024;
    /** The instance of the process. */
    static final TcpFallback INSTANCE =
        new TcpFallback(MOST_HOSTS, InternalLoggerFactory.getInstance("io.rpma.netty.RpmaChannel"));

    private final InternalLogger logger;
    // Guarded by its own monitor; ordered by the last connection.
    private final Map<InetAddress, Boolean> told;

    /**
     * Creates an instance that has not warned of any host.
     *
     * @param mostHosts how many hosts it remembers
     */
    TcpFallback(int mostHosts, InternalLogger logger) {
        this.logger = logger;
        told = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<InetAddress, Boolean> eldest) {
                return size() > mostHosts;
            }
        };
    }

    /**
     * Called when a connection has been established.
     *
     * @param path the path that it has taken
     * @param passedOver why each better path was not taken
     */
    void taken(RpmaPath path, InetSocketAddress remote, Map<RpmaPath, String> passedOver) {
        String why = path == RpmaPath.TCP ? passedOver.get(RpmaPath.RDMA) : null;
        if (why == null) {
            return;
        }
        InetAddress host = remote.getAddress();
        // A server that is bound to a loopback address listens on no device.
        if (!host.isLoopbackAddress() && !host.isAnyLocalAddress() && isNews(host)) {
            logger.warn("Connections to {} use TCP, although this process has an RDMA device, because connecting by RDMA failed:"
                + " {}. './rpma info {}:{}' tries again; RPMA_PATHS or -D{} without rdma disables this warning, which is logged"
                + " once for each host.",
                host.getHostAddress(), why, words(host), remote.getPort(), Paths.PROPERTY);
        }
    }

    private boolean isNews(InetAddress host) {
        synchronized (told) {
            return told.put(host, true) == null;
        }
    }

    /** Returns an address in the form that precedes a port. */
    private static String words(InetAddress address) {
        String text = address.getHostAddress();
        return text.indexOf(':') < 0 ? text : '[' + text + ']';
    }
}
