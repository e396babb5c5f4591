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

import io.rpma.ConnectionConfig;
import io.rpma.ConnectionRequest;
import io.rpma.Endpoint;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueue;
import io.rpma.SharedReceiveQueueConfig;
import io.rpma.software.SharedReceiveQueueSettings;
import io.rpma.software.SoftwareMemoryRegion;
import io.rpma.software.SoftwarePeer;
import io.rpma.software.TcpPort;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A protection domain: its memory regions are what the peers of its connections reach, by keys that cannot be guessed. */
final class TcpPeer extends SoftwarePeer {
    // Seeded once: registering may be done on an event loop, which reads no file.
    private static final SecureRandom RANDOM = random();
    private static final AtomicInteger NEXT_QUEUE_PAIR = new AtomicInteger(ThreadLocalRandom.current().nextInt());
    // Queue pair numbers have 24 bits, as on devices.
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;
    private static final int FIRST_QUEUE_PAIR = 2;

    // A table with open addresses, replaced as a whole under this lock; read by every thread.
    private volatile TcpLocalMemoryRegion[] regions = new TcpLocalMemoryRegion[16];
    private int regionCount;

    TcpPeer(TcpDevice device) {
        super(TcpLog.INSTANCE, device);
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

    /** Draws the seed of the keys. Blocks. */
    static int newKey() {
        return RANDOM.nextInt();
    }

    int newQueuePair() {
        int number;
        do {
            number = NEXT_QUEUE_PAIR.getAndIncrement() & QUEUE_PAIR_MASK;
        } while (number < FIRST_QUEUE_PAIR);
        return number;
    }

    @Override
    public Endpoint listen(InetSocketAddress local) throws RpmaException {
        checkLocal(local);
        TcpEndpoint endpoint = new TcpEndpoint(this, local);
        addChild();
        return endpoint;
    }

    @Override
    public Endpoint listen(InetSocketAddress local, Endpoint beside) throws RpmaException {
        if (!(beside instanceof TcpPort port) || beside.localAddress().getPort() != local.getPort()) {
            return listen(local);
        }
        checkLocal(local);
        TcpEndpoint endpoint = new TcpEndpoint(this, port);
        addChild();
        return endpoint;
    }

    @Override
    public ConnectionRequest newConnectionRequest(InetSocketAddress remote, ConnectionConfig config) throws RpmaException {
        checkRemote("newConnectionRequest", remote);
        QueueSizes sizes = QueueSizes.of(config, this);
        Queues queues = Queues.create(this, sizes);
        boolean done = false;
        try {
            OutgoingRequest request =
                new OutgoingRequest(this, queues, Dialer.dial(remote, Math.max(1, sizes.timeoutMillis())));
            done = true;
            return request;
        } finally {
            if (!done) {
                queues.close();
            }
        }
    }

    @Override
    public SharedReceiveQueue newSharedReceiveQueue(SharedReceiveQueueConfig config) throws RpmaException {
        checkOpen();
        SharedReceiveQueueConfig sizes = config != null ? config : new SharedReceiveQueueSettings(TcpLog.INSTANCE);
        int slots = sizes.receiveQueueSize();
        int completions = sizes.receiveCompletionQueueSize();
        QueueSizes.check("receiveQueueSize", slots, 1, TcpDevice.MAX_WORK_REQUESTS);
        QueueSizes.check("receiveCompletionQueueSize", completions, 0, TcpDevice.MAX_COMPLETIONS);
        TcpSharedReceiveQueue queue = new TcpSharedReceiveQueue(this, slots, completions);
        addChild();
        return queue;
    }

    @Override
    public LocalMemoryRegion register(MemorySegment memory, Set<MemoryUsage> usages) throws RpmaException {
        checkOpen();
        SoftwareMemoryRegion.check(TcpLog.INSTANCE, memory, usages);
        TcpLocalMemoryRegion region = enter(memory, MemoryUsage.bits(usages));
        addChild();
        return region;
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

    /** A region has been closed. */
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
        removeChild();
    }
}
