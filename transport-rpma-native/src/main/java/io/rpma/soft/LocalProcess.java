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
import io.rpma.posix.Posix;
import io.rpma.soft.control.Hello;
import io.rpma.soft.host.MappingLimit;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.process.LimboList;
import io.rpma.soft.process.LocalReceiveQueue;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.process.RemoteProcesses;
import io.rpma.soft.shared.Range;
import io.rpma.soft.shared.Ranges;
import io.rpma.soft.shared.RegionTable;
import io.rpma.soft.shared.Segment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The state of this process that peers refer to: its identity, the table of its memory regions, its segments, its queue pairs,
 * its shared receive queues, and the ranges that are published for each of its protection domains. It also holds the views of the
 * other processes that it has connections to. Any thread may call any method.
 */
final class LocalProcess {
    private static final int FIRST_QUEUE_PAIR = 2;
    // Queue pair numbers have 24 bits, as on devices.
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;
    /** The number of closed connections whose memory a stopped process may block before it is refused new connections. */
    private static final int MAX_STOPPED = 64;

    private final RemoteProcess.Identity identity;
    private final User user = User.current();
    private final byte[] host;
    private final RegionTable regions;
    private final AtomicInteger nextDomain = new AtomicInteger();
    private final Ranges ranges = new Ranges();
    private final MappingLimit mappings = MappingLimit.ofKernel();
    private final AtomicInteger nextReceiveQueue = new AtomicInteger();
    private final AtomicInteger nextQueuePair = new AtomicInteger(ThreadLocalRandom.current().nextInt());
    private final ConcurrentNavigableMap<Long, Segment> segments = new ConcurrentSkipListMap<>();
    private final Map<Integer, LocalEnd> queuePairs = new ConcurrentHashMap<>();
    private final Map<Integer, LocalReceiveQueue> receiveQueues = new ConcurrentHashMap<>();
    private final Map<Integer, PublishedRanges> domains = new ConcurrentHashMap<>();
    private final RemoteProcesses remotes;
    private final LimboList limbo = new LimboList();
    private final StarvationTimer starvationTimer = new StarvationTimer();

    LocalProcess() {
        SecureRandom random = new SecureRandom();
        identity = new RemoteProcess.Identity((int) ProcessHandle.current().pid(), random.nextLong(), random.nextLong());
        host = readHost();
        try {
            regions = new RegionTable();
        } catch (RpmaException e) {
            throw new RpmaUnavailableException("the software provider cannot start: " + e.getMessage(), e);
        }
        remotes = new RemoteProcesses(identity, regions, mappings, this::awaitOwn);
    }

    private static byte[] readHost() {
        // The boot id identifies the running kernel. Abstract names of Unix sockets are visible within one network namespace.
        try {
            String text = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim() + ' '
                + Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
            byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            return java.util.Arrays.copyOf(bytes, Hello.HOST_SIZE);
        } catch (IOException e) {
            // Without /proc, a random value: no other process is then considered to be on this host because of it.
            byte[] bytes = new byte[Hello.HOST_SIZE];
            ThreadLocalRandom.current().nextBytes(bytes);
            return bytes;
        }
    }

    RemoteProcess.Identity identity() {
        return identity;
    }

    /** Returns the user of this process when it began to use the provider. */
    User user() {
        return user;
    }

    /** Returns a value that is the same for all processes of this host and network namespace. */
    byte[] host() {
        return host.clone();
    }

    /** Returns what finds the queue pairs that have been waiting for a shared receive for a long time. */
    StarvationTimer starvationTimer() {
        return starvationTimer;
    }

    RegionTable regions() {
        return regions;
    }

    int newDomain() {
        return nextDomain.incrementAndGet();
    }

    void add(int domain, PublishedRanges published) {
        domains.put(domain, published);
    }

    void removeDomain(int domain) {
        domains.remove(domain);
        limbo.sweep();
        if (domains.isEmpty()) {
            // Without a protection domain there can be no connection, so idle views are closed at once.
            remotes.closeIdle();
        } else {
            remotes.sweep();
        }
    }

    // ---- memory that peers can map

    Ranges ranges() {
        return ranges;
    }

    /** Returns the limit of the memory that other processes make this one map. */
    MappingLimit mappings() {
        return mappings;
    }

    void add(Segment segment) {
        segments.put(segment.address(), segment);
    }

    void remove(Segment segment) {
        segments.remove(segment.address());
    }

    /** Returns the segment that contains a part of memory, or {@code null} if no single segment contains all of it. */
    Segment segmentOf(long address, long length) {
        Map.Entry<Long, Segment> entry = segments.floorEntry(address);
        return entry != null && entry.getValue().contains(address, length) ? entry.getValue() : null;
    }

    /** Withdraws a range from the peers that have been sent it. It is not sent any more, so its file can be closed. */
    void withdraw(Range range) {
        domains.values().forEach(published -> published.unpublish(range));
        Set<RemoteProcess> told = remotes.withdraw(range);
        domains.values().forEach(published -> published.askToLook(told));
    }

    // ---- queue pairs

    /**
     * Returns the number of a new queue pair, which is unique in this process; {@link #add(LocalEnd)} follows.
     *
     * @param other the process at the other end
     */
    int newQueuePairNumber(RemoteProcess other) throws RpmaException {
        if (queuePairs.size() >= Limits.MAX_QUEUE_PAIRS) {
            throw SoftLog.failure(RpmaError.PROVIDER, 12, Limits.MAX_QUEUE_PAIRS + " queue pairs are in use, which is the"
                + " limit of the software provider", null);
        }
        if (limbo.connections(other.origin()) >= MAX_STOPPED) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EAGAIN, User.process(other.pid()) + " has stopped in the middle of an"
                + " operation on each of " + MAX_STOPPED + " connections that are closed on this side; no further connection to"
                + " it is possible until it resumes or exits", null);
        }
        return nextNumber();
    }

    private int nextNumber() {
        int number = nextQueuePair.incrementAndGet() & QUEUE_PAIR_MASK;
        while (number < FIRST_QUEUE_PAIR || queuePairs.containsKey(number)) {
            number = nextQueuePair.incrementAndGet() & QUEUE_PAIR_MASK;
        }
        return number;
    }

    /** Adds a queue pair, which can be found by its number from here on. */
    void add(LocalEnd queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
    }

    void remove(LocalEnd queuePair) {
        queuePairs.remove(queuePair.number(), queuePair);
    }

    /** Returns a queue pair of this process, or {@code null}. */
    LocalEnd queuePair(int number) {
        return queuePairs.get(number);
    }

    /**
     * Makes a region invalid. This method does not wait for operations in progress in the region.
     *
     * @param key the key of the region
     * @param usages the usages that it is registered for
     * @return the grace period of these operations, or {@code null} if there are none; at its end the caller calls
     *     {@link #forget}
     */
    GracePeriod deregister(int key, int usages) {
        regions.invalidate(key);
        GracePeriod period = null;
        for (LocalEnd queuePair : queuePairs.values()) {
            period = GracePeriod.with(period, queuePair.peerOperation(key, usages));
        }
        return period == null || period.endsAtOnce() ? null : period;
    }

    /** Releases the key of a region in which no operation is in progress any more. */
    void forget(int key) {
        regions.remove(key);
    }

    /** Returns the list of closed objects whose memory a peer may still access. */
    LimboList limbo() {
        return limbo;
    }

    // ---- shared receive queues

    int newReceiveQueue() {
        return nextReceiveQueue.incrementAndGet();
    }

    void add(LocalReceiveQueue queue) {
        receiveQueues.put(queue.id(), queue);
    }

    /** Removes a shared receive queue from this process and withdraws it from the peers. */
    void withdraw(LocalReceiveQueue queue) {
        receiveQueues.remove(queue.id());
        remotes.withdraw(queue);
    }

    // ---- other processes

    /** Returns the views of the processes that this one has connections to. */
    RemoteProcesses remotes() {
        return remotes;
    }

    /** Waits for the end of the operations that threads of this process may be executing. */
    void awaitOwn() {
        for (LocalEnd queuePair : queuePairs.values()) {
            queuePair.awaitOwn();
        }
    }

    // ---- for tests

    int queuePairCount() {
        return queuePairs.size();
    }
}
