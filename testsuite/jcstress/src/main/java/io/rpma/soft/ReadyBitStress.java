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

import io.rpma.posix.Memory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Row M25, the fences in {@code Requester.markDelivered} and {@code SharedReceiveCompletionQueue.deactivate}: an initiator
 * publishes the completion of a shared receive and looks at the ready bit, while the owner removes the ring from those that it
 * polls. Both ends are those of soft.
 *
 * <p>On x86-64, with {@code run.sh --one-jvm --without-fence Requester:5 'ReadyBitStress$'}: 96 of 1,785,041 results were
 * forbidden; with the fence none. The fence of the owner follows a read-modify-write, so that x86-64 does not show it.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "The ring is no longer polled, and its bit is not set.")
@Outcome(expect = Expect.ACCEPTABLE, desc = "The ring stays among those that are polled, or its bit is set.")
@State
public class ReadyBitStress {
    private static final int SLOTS = 4;
    private static final int SKEW = 8;
    private static final Turns<SharedPair> PAIRS = new Turns<>(() -> SharedPair.connect(SLOTS, 4 * SLOTS));
    // The queue calls this method only after many polls, and with many rings.
    private static final MethodHandle DEACTIVATE = deactivate();

    private final SharedPair pair = PAIRS.next();
    private final SharedReceiveCompletionQueue queue = pair.shared.completions();

    /** Leaves one receive, and an empty ring that is polled. */
    public ReadyBitStress() {
        pair.write();
        pair.settleShared();
        pair.setReady();
        pair.receiveShared();
    }

    private static MethodHandle deactivate() {
        try {
            return MethodHandles.privateLookupIn(SharedReceiveCompletionQueue.class, MethodHandles.lookup())
                .findVirtual(SharedReceiveCompletionQueue.class, "deactivate", MethodType.methodType(boolean.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private boolean isDeactivated() {
        try {
            return (boolean) DEACTIVATE.invokeExact(queue, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** The initiator. */
    @Actor
    public void send() {
        pair.sendSilently();
    }

    /** The owner. */
    @Actor
    public void deactivate(II_Result r) {
        Words.skew(SKEW);
        r.r1 = isDeactivated() ? 1 : 0;
    }

    /** Checks the bit. */
    @Arbiter
    public void isReady(II_Result r) {
        r.r2 = pair.isReady() ? 1 : 0;
    }

    /**
     * The same two words without the fence of the initiator. On x86-64, {@code run.sh --one-jvm
     * WithoutFence} showed 176 of 1,025,873 results that the fence prevents.
     */
    @JCStressTest
    @Outcome(id = "0, 1", expect = Expect.ACCEPTABLE_INTERESTING, desc = "What the fence prevents.")
    @Outcome(expect = Expect.ACCEPTABLE, desc = "One side observes the other.")
    @State
    public static class WithoutFence {
        private final long entry = Words.next();
        private final long ready = entry + Words.SECOND;

        /** The bit is set initially. */
        public WithoutFence() {
            Memory.putLong(ready, 1);
        }

        /** The initiator. */
        @Actor
        public void send(II_Result r) {
            Memory.putLongRelease(entry, 1);
            r.r2 = (int) Memory.getLongAcquire(ready);
        }

        /** The owner. */
        @Actor
        public void deactivate(II_Result r) {
            Memory.getAndBitwiseAndLong(ready, ~1L);
            Memory.fullFence();
            r.r1 = (int) Memory.getLongAcquire(entry);
        }
    }
}
