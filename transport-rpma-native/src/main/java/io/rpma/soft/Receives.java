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

import io.rpma.CompletionOpcode;
import io.rpma.MemoryUsage;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import io.rpma.posix.Posix;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.shared.CompletionRing;
import io.rpma.soft.shared.RegionTable;

/** Functions for receives, both of own and of shared receive queues. */
final class Receives {
    private Receives() {
    }

    /** Returns the opcode of a received message. */
    static int opcode(int flags) {
        return (flags & CompletionRing.WRITE) != 0
            ? CompletionOpcode.RECV_RDMA_WITH_IMM.code() : CompletionOpcode.RECV.code();
    }

    /** Returns the flags of a received message as {@code struct ibv_wc} has them. */
    static int completionFlags(int flags) {
        return (flags & CompletionRing.IMMEDIATE) != 0 ? WorkCompletions.FLAG_WITH_IMMEDIATE : 0;
    }

    /** Refuses arguments that librpma refuses. */
    static void check(SoftLocalMemoryRegion target, long offset, long length) throws RpmaException {
        if (target == null && (offset != 0 || length != 0)) {
            throw SoftLog.failure(RpmaError.INVALID, "receive: without a region, offset and length must be 0; they are "
                + offset + " and " + length);
        }
        if (offset < 0 || length < 0 || length > Limits.MAX_MESSAGE) {
            throw SoftLog.failure(RpmaError.INVALID, "receive: offset " + offset + " and length " + length
                + " must not be negative, and the length at most " + Limits.MAX_MESSAGE);
        }
    }

    /** Returns the exception for a receive posted to a connection that uses a shared receive queue. */
    static RpmaException shared() {
        return SoftLog.failure(RpmaError.PROVIDER, Posix.EINVAL, "receive: this connection takes its receives from a shared"
            + " receive queue; post them there (SharedReceiveQueue.receive)", null);
    }

    /** Returns the exception for a receive posted to a full queue. */
    static RpmaException full(int slots) {
        return SoftLog.failure(RpmaError.PROVIDER, Posix.ENOMEM, "receive queue full: " + slots + " of " + slots
            + " slots are posted or not polled yet; poll completions first, or configure a larger queue"
            + " (ConnectionConfig.receiveQueueSize)", null);
    }

    /**
     * Returns the key to post a receive with. As on a device, a receive outside its region, or in a region that is not registered
     * for receiving, can be posted and fails when a message takes it.
     */
    static int key(SoftLocalMemoryRegion target, long offset, long length) {
        if (target == null) {
            return RegionTable.NO_REGION;
        }
        return target.allows(MemoryUsage.RECV.bit()) && target.contains(offset, length) ? target.key() : RegionTable.BAD_KEY;
    }
}
