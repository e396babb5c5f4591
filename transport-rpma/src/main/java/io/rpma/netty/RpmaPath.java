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

import io.rpma.RpmaProvider;
import java.util.Locale;

/** A way by which bytes travel between two ends. {@link RpmaChannelOption#RPMA_PATHS} sets which paths a channel may take. */
public enum RpmaPath {
    /** Memory shared by processes of this host: the software provider {@code soft}. Reaches only the addresses of this host. */
    SHARED_MEMORY("soft"),

    /** An RDMA device, used through librpma. Reaches what the device's network reaches. */
    RDMA("librpma"),

    /** Software RDMA over a TCP socket: the provider {@code tcp}. Reaches what TCP reaches. */
    TCP("tcp");

    private final String provider;

    RpmaPath(String provider) {
        this.provider = provider;
    }

    /** Returns the {@linkplain RpmaProvider#name() name} of the provider that implements the path. */
    String provider() {
        return provider;
    }

    /**
     * Returns the path that a provider implements.
     *
     * @param provider one of {@link io.rpma.Rpma#providers()}
     * @throws IllegalArgumentException if the provider is not {@code soft}, {@code librpma} or {@code tcp}
     */
    public static RpmaPath of(RpmaProvider provider) {
        for (RpmaPath path : values()) {
            if (path.provider.equals(provider.name())) {
                return path;
            }
        }
        throw new IllegalArgumentException("no path is known for the provider " + provider.name());
    }

    /** Returns the name that {@code -Dio.rpma.netty.paths} uses: {@code shared-memory}, {@code rdma} or {@code tcp}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
