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

/** A way by which bytes travel between two ends: {@link RpmaChannelOption#RPMA_PATHS} says which of them a channel may take. */
public enum RpmaPath {
    /** Memory that processes of this host share: the software provider {@code soft}. Reaches the addresses of this host alone. */
    SHARED_MEMORY("soft"),

    /** An RDMA device: librpma. Reaches what the device's network reaches. */
    RDMA("librpma"),

    /** Software RDMA over a TCP socket: the provider {@code tcp}. Reaches what TCP reaches. */
    TCP("tcp");

    private final String provider;

    RpmaPath(String provider) {
        this.provider = provider;
    }

    /** Returns the {@linkplain RpmaProvider#name() name} of the provider that carries it. */
    String provider() {
        return provider;
    }

    /**
     * Returns the path that a provider carries.
     *
     * @param provider one of {@link io.rpma.Rpma#providers()}
     * @throws IllegalArgumentException if it is none of {@code soft}, {@code librpma} and {@code tcp}
     */
    public static RpmaPath of(RpmaProvider provider) {
        for (RpmaPath path : values()) {
            if (path.provider.equals(provider.name())) {
                return path;
            }
        }
        throw new IllegalArgumentException("no path is known of the provider " + provider.name());
    }

    /** Returns the name by which {@code -Dio.rpma.netty.paths} knows it: {@code shared-memory}, {@code rdma} or {@code tcp}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
