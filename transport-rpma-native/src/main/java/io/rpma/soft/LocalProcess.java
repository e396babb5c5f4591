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
package io.rpma.soft;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * This process as peers know it: its identity, the table of its memory regions, its segments, its queue pairs; and the other
 * processes that it has connections to.
 */
final class LocalProcess {
    private static final int FIRST_QUEUE_PAIR = 2;
    // Queue pair numbers have 24 bits, as on devices.
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;

    private final RemoteProcess.Identity identity;
    private final int user = Libc.geteuid();
    private final byte[] host;
    private final RegionTable regions;
    private final AtomicInteger nextDomain = new AtomicInteger();
    private final AtomicInteger nextSegment = new AtomicInteger();
    private final AtomicInteger nextReceiveQueue = new AtomicInteger();
    private final AtomicInteger nextQueuePair = new AtomicInteger(ThreadLocalRandom.current().nextInt());
    private final ConcurrentNavigableMap<Long, Segment> segments = new ConcurrentSkipListMap<>();
    private final Map<Integer, QueuePair> queuePairs = new ConcurrentHashMap<>();
    private final Map<Integer, SoftSharedReceiveQueue> receiveQueues = new ConcurrentHashMap<>();
    private final Map<Integer, SoftPeer> peers = new ConcurrentHashMap<>();
    private final Map<RemoteProcess.Identity, RemoteProcess> remotes = new HashMap<>();

    LocalProcess() {
        SecureRandom random = new SecureRandom();
        identity = new RemoteProcess.Identity((int) ProcessHandle.current().pid(), random.nextLong(), random.nextLong());
        host = readHost();
        try {
            regions = new RegionTable();
        } catch (RpmaException e) {
            throw new RpmaUnavailableException("the software provider cannot start: " + e.getMessage(), e);
        }
    }

    private static byte[] readHost() {
        // The kernel that runs, and the network namespace: within one, names of Unix sockets reach each other.
        try {
            String text = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim() + ' '
                + Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
            byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            return java.util.Arrays.copyOf(bytes, Hello.HOST_SIZE);
        } catch (IOException e) {
            // No /proc: then no other process is taken for one of this host by this alone.
            byte[] bytes = new byte[Hello.HOST_SIZE];
            ThreadLocalRandom.current().nextBytes(bytes);
            return bytes;
        }
    }

    RemoteProcess.Identity identity() {
        return identity;
    }

    int user() {
        return user;
    }

    /** Returns what the processes of this host and network namespace have in common. */
    byte[] host() {
        return host.clone();
    }

    RegionTable regions() {
        return regions;
    }

    int newDomain() {
        return nextDomain.incrementAndGet();
    }

    void add(SoftPeer peer) {
        peers.put(peer.domain(), peer);
    }

    void remove(SoftPeer peer) {
        peers.remove(peer.domain());
    }

    // ---- segments

    /** Creates memory that peers can map, at a place of the address space that the caller owns. */
    Segment newSegment(long address, long size) throws RpmaException {
        Segment segment = new Segment(nextSegment.incrementAndGet(), SharedMemory.createAt(address, size));
        segments.put(address, segment);
        return segment;
    }

    /** Returns the segment that memory lies in, or {@code null} if it lies in none, or in several. */
    Segment segmentOf(long address, long length) {
        Map.Entry<Long, Segment> entry = segments.floorEntry(address);
        return entry != null && entry.getValue().contains(address, length) ? entry.getValue() : null;
    }

    /** Forgets a segment, here and at the peers. */
    void remove(Segment segment) {
        segments.remove(segment.address());
        for (SoftPeer peer : peers.values()) {
            peer.withdraw(segment);
        }
        segment.release();
    }

    // ---- queue pairs

    /** Creates a queue pair with a number that no other one of this process has. */
    QueuePair newQueuePair(SoftPeer peer, QueueSizes sizes, CompletionChannel channel, CompletionChannel receiveChannel)
            throws RpmaException {
        if (queuePairs.size() >= SoftDevice.MAX_QUEUE_PAIRS) {
            throw SoftLog.failure(RpmaError.PROVIDER, 12, SoftDevice.MAX_QUEUE_PAIRS + " queue pairs are in use, which is the"
                + " limit of the software provider", null);
        }
        while (true) {
            int number = nextQueuePair.incrementAndGet() & QUEUE_PAIR_MASK;
            if (number >= FIRST_QUEUE_PAIR && !queuePairs.containsKey(number)) {
                QueuePair queuePair = new QueuePair(peer, number, sizes, channel, receiveChannel);
                if (queuePairs.putIfAbsent(number, queuePair) == null) {
                    return queuePair;
                }
                queuePair.close();
            }
        }
    }

    void remove(QueuePair queuePair) {
        queuePairs.remove(queuePair.number(), queuePair);
    }

    /** Returns a queue pair of this process, or {@code null}. */
    QueuePair queuePair(int number) {
        return queuePairs.get(number);
    }

    /** Makes a region invalid and waits until no operation can be under way in it. */
    void deregister(int key) throws RpmaException {
        regions.invalidate(key);
        RpmaException stopped = null;
        for (QueuePair queuePair : queuePairs.values()) {
            try {
                queuePair.awaitPeer();
            } catch (RpmaException e) {
                stopped = e;
            }
        }
        if (stopped != null) {
            // The place in the table stays taken.
            throw stopped;
        }
        regions.remove(key);
    }

    // ---- shared receive queues

    int newReceiveQueue() {
        return nextReceiveQueue.incrementAndGet();
    }

    void add(SoftSharedReceiveQueue queue) {
        receiveQueues.put(queue.id(), queue);
    }

    void remove(SoftSharedReceiveQueue queue) {
        receiveQueues.remove(queue.id());
    }

    SoftSharedReceiveQueue receiveQueue(int id) {
        return receiveQueues.get(id);
    }

    // ---- other processes

    /** Returns the view of a process, known from another connection, and counts one more; {@code null} if it is not known. */
    RemoteProcess find(RemoteProcess.Identity other) {
        synchronized (remotes) {
            RemoteProcess remote = remotes.get(other);
            if (remote == null && other.equals(identity)) {
                remote = new RemoteProcess(identity, regions.memory().retain(), true);
                remotes.put(identity, remote);
            }
            if (remote != null) {
                remote.addUser();
            }
            return remote;
        }
    }

    /** Returns the view of a process, made from its region table unless it is known, and counts one more. */
    RemoteProcess findOrAdd(RemoteProcess.Identity other, SharedMemory table) {
        synchronized (remotes) {
            RemoteProcess remote = remotes.get(other);
            if (remote == null) {
                remote = new RemoteProcess(other, table, false);
                remotes.put(other, remote);
            } else {
                table.release();
            }
            remote.addUser();
            return remote;
        }
    }

    /** Gives up one use of the view of a process. */
    void release(RemoteProcess remote) {
        synchronized (remotes) {
            if (remote.removeUser()) {
                remotes.remove(remote.identity(), remote);
                remote.close();
            }
        }
    }

    /** Unmaps a segment that another process has given back. */
    void drop(RemoteProcess remote, int segment) {
        SharedMemory memory = remote.removeSegment(segment);
        if (memory != null) {
            for (QueuePair queuePair : queuePairs.values()) {
                queuePair.awaitOwn();
            }
            memory.release();
        }
    }

    // ---- for tests

    int queuePairCount() {
        return queuePairs.size();
    }

    int remoteCount() {
        synchronized (remotes) {
            return remotes.size();
        }
    }
}
