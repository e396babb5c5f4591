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

import io.rpma.posix.Posix;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * The flushes to persistence that the peer has requested. A thread of the process, which is started with the first of
 * them, carries them out, because {@code msync(2)} may take long, and the adapter's thread serves all connections. For each queue
 * pair, one is under way at a time.
 *
 * <p>Used by the thread that holds the queue pair, unless stated otherwise.
 */
final class PersistentFlushes {
    /** The thread that carries out the flushes of all connections, one after the other. */
    static final Executor THREAD = Executors.newSingleThreadExecutor(
        task -> Thread.ofPlatform().daemon().name("rpma-tcp-flush").unstarted(task));

    private final Drivable pair;
    private final Transmitter transmitter;
    // The flush that is being carried out, by the number of the peer's request; 0 if there is none.
    private long persisting;
    // The last flush that has been carried out, and its result, which is written first. Written by the thread of flushes.
    private int persistResult;
    private volatile long persisted;

    PersistentFlushes(Drivable pair, Transmitter transmitter) {
        this.pair = pair;
        this.transmitter = transmitter;
    }

    /** Stores the result of the persistent flush that has been carried out, if there is one. */
    void takeResult() {
        if (persisting != 0 && persisted == persisting) {
            Answers answers = transmitter.answers();
            // A queue pair that has ended meanwhile has discarded its answers.
            if (!answers.isEmpty() && answers.number(0) == persisting) {
                answers.persisted(persistResult);
            }
            persisting = 0;
        }
    }

    /** Has a thread carry out the persistent flush that is to be answered next. One is under way at a time. */
    void next() {
        Answers answers = transmitter.answers();
        if (persisting == 0 && !answers.isEmpty() && answers.type(0) == Wire.FLUSH_PERSISTENT
            && answers.persisted() == Answers.PENDING) {
            persisting = answers.number(0);
            carryOut(persisting, answers.address(0), answers.length(0));
        }
    }

    /** Has the thread of flushes make memory persistent and pass the result to {@link #carriedOut}. */
    private void carryOut(long number, long address, long length) {
        THREAD.execute(() -> {
            long first = address & -Posix.PAGE_SIZE;
            carriedOut(number, length == 0 ? 0 : Posix.msync(first, address + length - first));
        });
    }

    /**
     * Handles the result of a persistent flush, on the thread that has carried it out.
     *
     * @param number the peer's request
     * @param result 0, or {@code -errno}
     */
    private void carriedOut(long number, int result) {
        persistResult = result;
        persisted = number;
        pair.kick(Drivable.SEND);
    }
}
