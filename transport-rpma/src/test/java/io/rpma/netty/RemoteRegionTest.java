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
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests a peer's descriptor in a process with several providers, some of which do not accept it. */
class RemoteRegionTest {
    /** Returns the provider of these tests under the name of another one. */
    private static RpmaProvider standIn(RpmaPath path, String refusal) {
        RpmaProvider real = Rpma.provider();
        return (RpmaProvider) Proxy.newProxyInstance(RemoteRegionTest.class.getClassLoader(), new Class<?>[] {RpmaProvider.class},
            (proxy, method, arguments) -> {
                if (method.getName().equals("name")) {
                    return path.provider();
                }
                if (method.getName().equals("openRemoteRegion") && refusal != null) {
                    throw new RpmaException(RpmaError.INVALID, refusal);
                }
                try {
                    return method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    private static ByteBuffer descriptor(RpmaRegion region) throws Exception {
        return region.descriptor(Rpma.provider().devices().getFirst());
    }

    @Test
    void whatNoProviderTakesIsRefusedAtOnce() throws Exception {
        RpmaRegion region = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC);
        ByteBuffer descriptor = descriptor(region);
        Throwable failure = assertThrows(ProtocolException.class, () -> RpmaRemoteRegion.open(descriptor,
            List.of(standIn(RpmaPath.SHARED_MEMORY, "too short"), standIn(RpmaPath.RDMA, "no key"))));
        assertTrue(failure.getMessage().contains("shared-memory: too short"), failure::getMessage);
        assertTrue(failure.getMessage().contains("rdma: no key"), failure::getMessage);
        assertEquals(2, failure.getSuppressed().length);
        assertEquals(0, descriptor.position());
        region.release();
    }

    @Test
    void whatOneProviderTakesIsOpened() throws Exception {
        RpmaRegion region = RpmaRegion.allocate(4096, MemoryUsage.READ_SRC);
        ByteBuffer descriptor = descriptor(region);
        RpmaRemoteRegion remote = RpmaRemoteRegion.open(descriptor,
            List.of(standIn(RpmaPath.RDMA, "no key"), standIn(RpmaPath.TCP, null)));
        assertEquals(4096, remote.size());
        assertEquals(RpmaRegion.DESCRIPTOR_BYTES, descriptor.position());
        remote.release();
        region.release();
    }
}
