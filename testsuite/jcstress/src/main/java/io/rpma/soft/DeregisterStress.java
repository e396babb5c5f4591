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

import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RpmaException;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.shared.Half;
import io.rpma.soft.shared.RegionTable;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M37, the fences in {@code Requester.enter} and {@code RegionTable.invalidate}: a region is deregistered while a peer
 * executes an operation in it. Both ends are those of soft. The owner's load of the busy word is part of this case, because
 * {@code RemoteEnd.operation}, which has the same load, would wait for the operation.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence RegionTable:1 'DeregisterStress$'}: 10,111 of 32,839,185 results
 * were forbidden; with {@code Requester:2}: 298 of 27,774,289; with both fences none.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "The region is used, and its owner does not wait for the operation.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The key is invalid, or the owner waits for the operation.")
@State
public class DeregisterStress {
    private static final int SIZE = 64;
    private static final MemorySegment MEMORY = memory();
    private static final RegionTable TABLE = Pair.PEER.domain().process().regions();
    private static final Turns<Target> TARGETS = new Turns<>(Target::new);

    private final Target target = TARGETS.next();

    /** A connection and a region of the server. */
    private static final class Target {
        private final Pair pair = new Pair();
        private final LocalMemoryRegion local;
        private final SoftRemoteMemoryRegion region;
        private final long stampAddress;
        private final long stamp;

        private Target() throws RpmaException {
            local = Pair.PEER.register(MEMORY, EnumSet.allOf(MemoryUsage.class));
            ByteBuffer descriptor = ByteBuffer.allocate(local.descriptorSize());
            local.descriptor(descriptor);
            region = SoftRemoteMemoryRegion.read(descriptor.flip());
            stampAddress = RegionTable.entryAddress(TABLE.memory().address(), region.key());
            stamp = Memory.getLong(stampAddress);
        }
    }

    /** Ends the last operation, and makes the region valid again. */
    public DeregisterStress() {
        target.pair.client.requester().leave();
        Memory.putLong(target.stampAddress, target.stamp);
    }

    private static MemorySegment memory() {
        try {
            return Pair.PROVIDER.reserve(Posix.PAGE_SIZE).commit(0, Posix.PAGE_SIZE).asSlice(0, SIZE);
        } catch (RpmaException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The peer. It stays busy, because the operation does not end before the result is known. */
    @Actor
    public void execute(II_Result r) {
        int status = target.pair.client.requester().execute(Operation.FLUSH_VISIBILITY, null, 0, target.region, 0, SIZE, 0, 0);
        r.r1 = status == 0 ? 1 : 0;
    }

    /** The owner of the region. */
    @Actor
    public void deregister(II_Result r) {
        TABLE.invalidate(target.region.key());
        r.r2 = Memory.getIntVolatile(target.pair.client.base() + Half.BUSY) & 1;
    }

    /**
     * The same two words without the owner's fence. On x86-64, {@code run.sh --one-jvm WithoutFence} showed
     * 1,286 of 624,209 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long busy = Words.next();
        private final long invalid = busy + Words.SECOND;

        /** The peer. */
        @Actor
        public void execute(II_Result r) {
            Memory.putIntRelease(busy, 1);
            Memory.fullFence();
            r.r1 = (int) Memory.getLongAcquire(invalid);
        }

        /** The owner of the region. */
        @Actor
        public void deregister(II_Result r) {
            Memory.putLongRelease(invalid, 1);
            r.r2 = Memory.getIntVolatile(busy);
        }
    }

    /**
     * The same two words without the peer's fence. On x86-64, {@code run.sh --one-jvm WithoutPeersFence} showed 322
     * of 1,273,873 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutPeersFence {
        private final long busy = Words.next();
        private final long invalid = busy + Words.SECOND;

        /** The peer. */
        @Actor
        public void execute(II_Result r) {
            Memory.putIntRelease(busy, 1);
            r.r1 = (int) Memory.getLongAcquire(invalid);
        }

        /** The owner of the region. */
        @Actor
        public void deregister(II_Result r) {
            Memory.putLongRelease(invalid, 1);
            Memory.fullFence();
            r.r2 = Memory.getIntVolatile(busy);
        }
    }
}
