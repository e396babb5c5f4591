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
package io.rpma.contract;

import io.rpma.ConnectionConfig;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The base class of the tests. It has their scope, and methods that create the handles that most of them need. */
@ExtendWith({Tally.class, DescriptorCheck.class})
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ContractCase {
    final Scope scope = new Scope();

    private Peer peer;
    private Memory memory;

    @AfterEach
    void closeEverything() {
        scope.close();
    }

    /** Returns the peer of the test. */
    Peer peer() throws RpmaException {
        if (peer == null) {
            peer = scope.own(Contract.DEVICE.newPeer());
        }
        return peer;
    }

    /** Returns the memory of the test. */
    Memory memory() throws RpmaException {
        if (memory == null) {
            memory = scope.own(new Memory());
        }
        return memory;
    }

    /** Returns a new region of the test's peer. */
    LocalMemoryRegion region(long bytes, MemoryUsage... usages) throws RpmaException {
        return scope.own(memory().region(peer(), bytes, usages.length == 0 ? Memory.ALL : Set.of(usages)));
    }

    /** Returns a new endpoint of the test's peer, on a port that the provider chose. */
    Endpoint endpoint() throws RpmaException {
        return scope.own(peer().listen(Contract.anyPort()));
    }

    /** Returns a new configuration with the default values, except for the timeout, which is too short for a busy machine. */
    ConnectionConfig config() throws RpmaException {
        return defaults().timeoutMillis((int) Contract.DEADLINE);
    }

    /** Returns a new configuration with the default values. */
    ConnectionConfig defaults() throws RpmaException {
        return scope.own(Contract.PROVIDER.newConnectionConfig());
    }

    /** Returns a connected pair. */
    Pair pair() throws RpmaException {
        return scope.own(Pair.plain());
    }

    /** Returns a connected pair of the test's peer. */
    Pair pair(Pair.Builder wish) throws RpmaException {
        return scope.own(wish.peer(peer()).connect());
    }
}
