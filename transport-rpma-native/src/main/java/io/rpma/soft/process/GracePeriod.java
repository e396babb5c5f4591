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
package io.rpma.soft.process;

import io.rpma.posix.Memory;
import io.rpma.soft.shared.Half;
import java.util.ArrayList;
import java.util.List;

/**
 * The period until the operations have ended that peers were executing when memory was taken away from them. An operation that
 * begins later observes that the memory is no longer valid, so only these operations can access it.
 *
 * <p>A peer publishes in {@link Half#BUSY} that it executes an operation. The peer can store any value there, but thereby affects
 * only memory that it could write to anyway; and the word is ignored once the peer's process has ended. No thread waits for the
 * end of a grace period: {@link LimboList} checks it from time to time. Thread-safe.
 */
public final class GracePeriod {
    /** The number of immediate checks: an ordinary message is copied in less time. */
    private static final int SPINS = 200;

    private final List<Operation> operations = new ArrayList<>(1);

    /**
     * An operation that a peer was executing.
     *
     * @param end the peer's end of the connection, retained by this object
     * @param mark the value of the peer's busy word
     */
    public record Operation(RemoteEnd end, int mark) {
        private boolean hasEnded() {
            return Memory.getIntVolatile(end.base() + Half.BUSY) != mark || end.process().hasEnded();
        }
    }

    /** Adds an operation to a grace period, which is created if it is {@code null}. An operation of {@code null} adds nothing. */
    public static GracePeriod with(GracePeriod period, Operation operation) {
        if (operation == null) {
            return period;
        }
        GracePeriod result = period == null ? new GracePeriod() : period;
        synchronized (result) {
            result.operations.add(operation);
        }
        return result;
    }

    /** Returns whether all operations have ended, after spinning for at most some microseconds. */
    public boolean endsAtOnce() {
        for (int i = 0; i < SPINS; i++) {
            if (!isBusy()) {
                return isOver();
            }
            Thread.onSpinWait();
        }
        return isOver();
    }

    private synchronized boolean isBusy() {
        for (Operation operation : operations) {
            if (Memory.getIntVolatile(operation.end.base() + Half.BUSY) == operation.mark) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether all operations have ended. */
    synchronized boolean isOver() {
        for (int i = operations.size() - 1; i >= 0; i--) {
            Operation operation = operations.get(i);
            if (operation.hasEnded()) {
                operations.remove(i);
                operation.end.release();
            }
        }
        return operations.isEmpty();
    }

    /** Returns a process that executes one of the operations, {@code null} if all have ended. */
    synchronized RemoteProcess process() {
        return operations.isEmpty() ? null : operations.getFirst().end.process();
    }
}
