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

import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaProvider;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertFalse;

/** A provider that only opens regions of peers. The first four bytes of a descriptor are the size of the region. */
public final class GrantingProvider {
    /** All regions that were opened. */
    public final List<Region> regions = new ArrayList<>();

    /** One region of a peer. */
    public static final class Region implements RemoteMemoryRegion {
        private final int size;
        private boolean closed;

        Region(int size) {
            this.size = size;
        }

        @Override
        public long size() {
            return size;
        }

        @Override
        public Set<MemoryUsage> flushUsages() {
            return Set.of();
        }

        @Override
        public void close() {
            assertFalse(closed, "closed twice");
            closed = true;
        }

        public boolean isClosed() {
            return closed;
        }
    }

    /** Returns the provider. */
    public RpmaProvider provider() {
        return (RpmaProvider) Proxy.newProxyInstance(RpmaProvider.class.getClassLoader(), new Class<?>[] {RpmaProvider.class},
            (proxy, method, arguments) -> {
                if (!method.getName().equals("openRemoteRegion")) {
                    throw new AssertionError(method);
                }
                Region region = new Region(((ByteBuffer) arguments[0]).getInt(0));
                regions.add(region);
                return region;
            });
    }
}
