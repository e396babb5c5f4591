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

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;

/** The usages for which ordinary memory can be registered on the device of the tests. */
final class Usages {
    private static final Set<MemoryUsage> ALL = EnumSet.allOf(MemoryUsage.class);

    static {
        RpmaProvider provider = Rpma.provider();
        // A device that carries out flushes itself, with librpma 1.3, refuses memory that is not persistent.
        try (Peer peer = provider.localDevice(provider.reachable(InetAddress.getLoopbackAddress())).newPeer();
                Arena arena = Arena.ofConfined()) {
            try (LocalMemoryRegion region = peer.register(arena.allocate(4096, 4096), ALL)) {
                assert region.size() == 4096;
            } catch (RpmaException e) {
                if (!e.getMessage().contains("FLUSH_PERSISTENT: ")) {
                    throw e;
                }
                ALL.remove(MemoryUsage.FLUSH_PERSISTENT);
            }
        } catch (RpmaException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Usages() {
    }

    /** Returns all usages, without the flush to persistence if the device requires persistent memory for it. */
    static MemoryUsage[] all() {
        return ALL.toArray(MemoryUsage[]::new);
    }

    /** Returns whether ordinary memory can be registered for flushes to persistence. */
    static boolean isPersistenceTakenOnTrust() {
        return ALL.contains(MemoryUsage.FLUSH_PERSISTENT);
    }
}
