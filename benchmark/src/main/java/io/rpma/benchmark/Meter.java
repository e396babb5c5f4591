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
package io.rpma.benchmark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Measures what both ends of a run use. */
final class Meter implements AutoCloseable {
    private final long client;
    private final long server;
    private final List<SystemCallCounter> counters = new ArrayList<>();

    /**
     * Creates a meter.
     *
     * @param client the identifier of the client's process
     * @param server the identifier of the server's process, which may be the same
     * @param countsSystemCalls whether system calls are counted, too, which makes them slower
     */
    Meter(long client, long server, boolean countsSystemCalls) throws IOException {
        this.client = client;
        this.server = server;
        if (countsSystemCalls) {
            counters.add(new SystemCallCounter(client));
            if (server != client) {
                counters.add(new SystemCallCounter(server));
            }
        }
    }

    /** Returns what has been used so far. */
    Usage read() throws IOException {
        long cpuNanos = Processes.cpuNanos(client) + (server == client ? 0 : Processes.cpuNanos(server));
        long systemCalls = 0;
        for (SystemCallCounter counter : counters) {
            systemCalls += counter.count();
        }
        return new Usage(cpuNanos, counters.isEmpty() ? OptionalLong.empty() : OptionalLong.of(systemCalls));
    }

    /** Returns what has been used since an earlier reading. */
    Usage since(Usage before) throws IOException {
        return read().minus(before);
    }

    @Override
    public void close() {
        counters.forEach(SystemCallCounter::close);
    }
}
