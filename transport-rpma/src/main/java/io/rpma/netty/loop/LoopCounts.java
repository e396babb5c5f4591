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

package io.rpma.netty.loop;

/**
 * What an event loop counts. The loop alone writes the fields, without a lock or an atomic operation; any thread may read them,
 * and may see a slightly outdated value.
 */
public final class LoopCounts {
    public String name = "";
    public long turns;
    public long blocks;
    public long spins;
    public long spinsPaid;
    public long yields;
    public long pauses;
    public long polls;
    public int hotQueues;
    public int connections;

    /** Adds what another loop has counted so far, but not its queues and connections at present. */
    public void addEvents(LoopCounts other) {
        turns += other.turns;
        blocks += other.blocks;
        spins += other.spins;
        spinsPaid += other.spinsPaid;
        yields += other.yields;
        pauses += other.pauses;
        polls += other.polls;
    }

    /** Adds the queues and connections that another loop has at present. */
    public void addPresent(LoopCounts other) {
        hotQueues += other.hotQueues;
        connections += other.connections;
    }
}
