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
package io.rpma.tcp;

import io.rpma.Peer;
import io.rpma.RpmaException;
import io.rpma.software.SoftwarePeer;
import java.lang.foreign.MemorySegment;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;

/**
 * A protection domain: the peers of its connections can access its memory regions, by keys that cannot be guessed. Its
 * {@link Peer} counts the objects that belong to the domain.
 *
 * <p>Any thread may use it. Registering and removing a region take a lock; the lookup of a key, which every access of a peer
 * needs, takes none.
 */
final class ProtectionDomain {
    // Seeded once, when the provider is created: seeding may read a file, and an event loop may register memory.
    private static final SecureRandom RANDOM = random();

    private final SoftwarePeer peer;
    // A hash table with open addressing, which is changed under the lock of this object. The field is stored again after each
    // change, and thereby publishes it to the threads that read the table without the lock.
    private volatile TcpLocalMemoryRegion[] regions = new TcpLocalMemoryRegion[16];
    private int regionCount;

    /** Creates the domain of a peer. */
    ProtectionDomain(SoftwarePeer peer) {
        this.peer = peer;
    }

    private static SecureRandom random() {
        try {
            SecureRandom random = SecureRandom.getInstance("DRBG");
            random.nextInt();
            return random;
        } catch (NoSuchAlgorithmException e) {
            return new SecureRandom();
        }
    }

    /** Returns a random number. The first call of the process blocks, because it seeds the generator. */
    static int newKey() {
        return RANDOM.nextInt();
    }

    /** Returns the peer whose domain this is. */
    Peer peer() {
        return peer;
    }

    // ---- what belongs to the domain

    /**
     * Counts what has to be closed before the peer, and is about to be created: an endpoint, a request, a shared receive queue or
     * a memory region.
     *
     * @throws RpmaException if the peer has been closed
     */
    void hold() throws RpmaException {
        peer.addChild();
    }

    /** Counts one of these as closed. A connection takes the place of its request. */
    void release() {
        peer.removeChild();
    }

    // ---- memory regions

    /** Registers memory, which has been checked, for usages given as bits. */
    TcpLocalMemoryRegion register(MemorySegment memory, int usages) throws RpmaException {
        hold();
        boolean done = false;
        try {
            TcpLocalMemoryRegion region = enter(memory, usages);
            done = true;
            return region;
        } finally {
            if (!done) {
                release();
            }
        }
    }

    private synchronized TcpLocalMemoryRegion enter(MemorySegment memory, int usages) {
        int key;
        do {
            key = newKey();
        } while (key == 0 || find(key & 0xffff_ffffL) != null);
        TcpLocalMemoryRegion region = new TcpLocalMemoryRegion(this, memory, usages, key);
        if (++regionCount * 2 > regions.length) {
            TcpLocalMemoryRegion[] larger = new TcpLocalMemoryRegion[regions.length * 2];
            for (TcpLocalMemoryRegion old : regions) {
                if (old != null) {
                    put(larger, old);
                }
            }
            put(larger, region);
            regions = larger;
        } else {
            TcpLocalMemoryRegion[] table = regions;
            put(table, region);
            regions = table;
        }
        return region;
    }

    private static void put(TcpLocalMemoryRegion[] table, TcpLocalMemoryRegion region) {
        int mask = table.length - 1;
        int index = region.key() & mask;
        while (table[index] != null) {
            index = index + 1 & mask;
        }
        table[index] = region;
    }

    /** Returns the region of a key that a peer has sent, {@code null} if there is none. */
    TcpLocalMemoryRegion find(long key) {
        if (key >>> 32 != 0) {
            return null;
        }
        TcpLocalMemoryRegion[] table = regions;
        int mask = table.length - 1;
        int index = (int) key & mask;
        TcpLocalMemoryRegion region = table[index];
        while (region != null && region.key() != (int) key) {
            index = index + 1 & mask;
            region = table[index];
        }
        return region;
    }

    /** Removes a region that has been closed. */
    void remove(TcpLocalMemoryRegion region) {
        synchronized (this) {
            regionCount--;
            TcpLocalMemoryRegion[] rest = new TcpLocalMemoryRegion[regions.length];
            for (TcpLocalMemoryRegion other : regions) {
                if (other != null && other != region) {
                    put(rest, other);
                }
            }
            regions = rest;
        }
        release();
    }
}
