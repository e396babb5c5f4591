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
package io.rpma.software;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The clients that have connected and not yet sent all expected data. Each has a deadline, and their number is limited, in total
 * and for each origin. Not thread-safe. This class closes no socket.
 */
public final class HalfOpenClients {
    private final int limit;
    private final int limitPerOrigin;
    private final long nanos;
    // In the order of their deadlines, since each has the same time.
    private final Map<Integer, Client> clients = new LinkedHashMap<>();
    private final Map<Integer, Map<Integer, Client>> origins = new HashMap<>();

    /**
     * Creates an empty set.
     *
     * @param limit the largest number of clients
     * @param limitPerOrigin the largest number of clients of one origin
     * @param nanos the time that each has, in nanoseconds
     */
    public HalfOpenClients(int limit, int limitPerOrigin, long nanos) {
        this.limit = limit;
        this.limitPerOrigin = limitPerOrigin;
        this.nanos = nanos;
    }

    /** A client. */
    public static final class Client {
        private final int fd;
        private final int origin;
        private final long deadline;
        private int received;

        private Client(int fd, int origin, long deadline) {
            this.fd = fd;
            this.origin = origin;
            this.deadline = deadline;
        }

        public int fd() {
            return fd;
        }

        /** Returns its origin: for a client of this host, the number of its process. */
        public int origin() {
            return origin;
        }

        /** Returns its deadline, a value of {@code System.nanoTime()}. */
        public long deadline() {
            return deadline;
        }

        /** Counts bytes that it has sent. Returns the total. */
        public int receive(int bytes) {
            received += bytes;
            return received;
        }
    }

    /** Adds a client. */
    public Client add(int fd, int origin, long now) {
        Client client = new Client(fd, origin, now + nanos);
        clients.put(fd, client);
        origins.computeIfAbsent(origin, any -> new LinkedHashMap<>()).put(fd, client);
        return client;
    }

    /** Returns a client, or {@code null}. */
    public Client get(int fd) {
        return clients.get(fd);
    }

    /** Removes a client. */
    public void remove(Client client) {
        clients.remove(client.fd);
        Map<Integer, Client> others = origins.get(client.origin);
        others.remove(client.fd);
        if (others.isEmpty()) {
            origins.remove(client.origin);
        }
    }

    /**
     * Returns the client that must be removed before another one of an origin is added: the oldest one of that origin if its
     * limit is reached; the oldest one of the origin with the most clients if the total limit is reached; otherwise {@code null}.
     */
    public Client surplus(int origin) {
        Map<Integer, Client> own = origins.get(origin);
        if (own != null && own.size() >= limitPerOrigin) {
            return oldest(own);
        }
        if (clients.size() < limit) {
            return null;
        }
        Map<Integer, Client> most = null;
        for (Map<Integer, Client> some : origins.values()) {
            if (most == null || some.size() > most.size()) {
                most = some;
            }
        }
        return oldest(most);
    }

    /** Returns the client with the earliest deadline, {@code null} if there is none. */
    public Client first() {
        return clients.isEmpty() ? null : oldest(clients);
    }

    /** Returns a client whose deadline has passed, or {@code null}. */
    public Client expired(long now) {
        Client first = first();
        return first != null && first.deadline - now <= 0 ? first : null;
    }

    private static Client oldest(Map<Integer, Client> some) {
        return some.values().iterator().next();
    }

    /** Returns all clients. */
    public Collection<Client> all() {
        return clients.values();
    }
}
