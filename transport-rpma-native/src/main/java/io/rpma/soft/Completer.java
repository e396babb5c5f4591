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

import io.rpma.CompletionStatus;
import io.rpma.posix.Memory;
import io.rpma.soft.host.FaultPoints;

/**
 * Completes the work requests of a queue pair: those that the {@link Requester} has executed, and those that are flushed. It adds
 * their completions to the send queue, and wakes the owners of the completion queues concerned.
 *
 * <p>Used by the thread that executes work requests; see {@link QueuePair}.
 */
final class Completer {
    private static final int SUCCESS = CompletionStatus.SUCCESS.code();
    private static final int WR_FLUSH_ERR = CompletionStatus.WR_FLUSH_ERR.code();
    private static final int REM_INV_REQ_ERR = CompletionStatus.REM_INV_REQ_ERR.code();
    private static final int REM_OP_ERR = CompletionStatus.REM_OP_ERR.code();
    private static final int REM_ACCESS_ERR = CompletionStatus.REM_ACCESS_ERR.code();

    private final LocalEnd own;
    private final SendQueue sends;
    // Null until the queue pair is connected; nothing is executed before.
    private Requester requester;

    Completer(LocalEnd own, SendQueue sends) {
        this.own = own;
        this.sends = sends;
    }

    /** Called when the queue pair is connected, before the other end is set. */
    void start(Requester by) {
        requester = by;
    }

    /** Completes a work request that has been executed, and wakes the owners of the completion queues concerned. */
    void finish(int operation, int status, boolean signalled, long context, long request, long length) {
        boolean completed = signalled || status != SUCCESS;
        boolean delivered = hasTakenReceive(operation, status);
        try {
            if (FaultPoints.ENABLED) {
                FaultPoints.at("telling");
            }
            if (completed) {
                sends.complete(request, context, status, Operation.opcode(operation), length);
            }
            if (delivered) {
                requester.markDelivered();
            }
        } finally {
            // Leave before the peer is woken. A peer that closes at once would otherwise have to wait for the end of this call.
            requester.leave();
        }
        if (completed || delivered) {
            // Orders the completions published above before the loads of the armed words. An owner arms, executes a fence and
            // polls again. Without this fence an armed word could be loaded before the completion is visible: the owner would
            // find nothing, this thread would find the queue not armed, and the wake-up would be lost (rows M5, M6 and M26 of
            // docs/memory-order.md).
            Memory.fullFence();
            if (delivered) {
                requester.ringForReceive();
                requester.lookAhead();
            }
            if (completed) {
                own.ownDoorbell().ring();
            }
        }
        if (status == REM_ACCESS_ERR) {
            requester.reportFault();
        }
        if (status != SUCCESS) {
            own.fail();
        }
    }

    /**
     * Returns whether an operation has taken a receive of the peer. If it has not, the peer may have closed, and may have given
     * its index in a shared receive queue to another queue pair, whose ready bit must not be set.
     */
    private static boolean hasTakenReceive(int operation, int status) {
        return Operation.takesReceive(operation)
            && (status == SUCCESS || status == REM_INV_REQ_ERR || status == REM_OP_ERR);
    }

    /** Completes a work request that was not executed, because the queue pair has failed. The caller rings the doorbell. */
    void flush(int operation, long context, long request) {
        sends.complete(request, context, WR_FLUSH_ERR, Operation.opcode(operation), 0);
    }
}
