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

import java.util.concurrent.locks.LockSupport;

/**
 * Waits for another thread of this process that will finish soon: spins, then yields, then sleeps. Not for waiting for a peer,
 * which may never finish.
 */
public final class Patience {
    private static final int SPINS = 1000;
    private static final int YIELDS = 2000;
    private static final long NAP_NANOS = 50_000;

    private int rounds;

    /** Waits a moment. */
    public void pause() {
        rounds++;
        if (rounds < SPINS) {
            Thread.onSpinWait();
        } else if (rounds < YIELDS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(NAP_NANOS);
        }
    }
}
