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

import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.soft.shared.Segment;
import io.rpma.software.SoftwarePeer;

/**
 * A protection domain. It has the state that its regions, queue pairs, shared receive queues and endpoints need: the number by
 * which peers distinguish its regions from others, the ranges that are sent to peers, and the process. {@link SoftPeer} creates
 * the objects of the domain.
 *
 * <p>Any thread may call any method.
 */
final class ProtectionDomain {
    /** The usages by which peers access a region: they must have received its range. */
    private static final int REACHED = MemoryUsage.READ_SRC.bit() | MemoryUsage.WRITE_DST.bit()
        | MemoryUsage.FLUSH_VISIBILITY.bit() | MemoryUsage.FLUSH_PERSISTENT.bit() | MemoryUsage.RECV.bit();

    private final SoftwarePeer peer;
    private final LocalProcess process;
    private final int number;
    private final PublishedRanges ranges = new PublishedRanges();

    /**
     * Creates a domain of this process.
     *
     * @param peer counts the objects that belong to the domain
     */
    ProtectionDomain(SoftwarePeer peer, LocalProcess process) {
        this.peer = peer;
        this.process = process;
        number = process.newDomain();
        process.add(number, ranges);
    }

    /** Returns whether peers access a region that is registered for these usages. */
    static boolean isReached(int usages) {
        return (usages & REACHED) != 0;
    }

    SoftwarePeer peer() {
        return peer;
    }

    LocalProcess process() {
        return process;
    }

    int number() {
        return number;
    }

    /** Returns the ranges that are sent to the other ends of its connections. */
    PublishedRanges ranges() {
        return ranges;
    }

    /**
     * Counts an object that belongs to this domain. Called before the object is created.
     *
     * @throws RpmaException if the peer has been closed
     */
    void addChild() throws RpmaException {
        peer.addChild();
    }

    /** Undoes {@link #addChild()}, because the object is closed or has not been created. */
    void removeChild() {
        peer.removeChild();
    }

    /** Handles the closing of a region. */
    void remove(int usages, Segment segment) {
        if (segment != null && isReached(usages)) {
            ranges.retract(segment.range());
        }
        removeChild();
    }

    /** Ends the domain, which has no objects any more. */
    void close() {
        process.removeDomain(number);
    }
}
