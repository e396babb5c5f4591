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

import io.rpma.CompletionOpcode;
import io.rpma.CompletionStatus;

/**
 * Completes the work requests of a queue pair, in the order in which they were posted: with the results that the peer reports, or
 * because the queue pair has failed. The reports of the peer are checked against the requests that have been sent.
 *
 * <p>Used by the thread that holds the queue pair.
 */
final class Completer {
    private final ErrorState pair;
    private final int number;
    private final SendQueue sends;
    private TcpCompletionQueue completions;
    // Null until the queue pair is connected; nothing is sent before.
    private Transmitter transmitter;
    // The number of the last work request that has completed.
    private long completed;
    // The number of the last work request that the peer is known to have executed. Later ones may have completed.
    private long executed;
    // Whether the peer has been asked for an acknowledgement that it might otherwise delay.
    private boolean asked;

    Completer(ErrorState pair, int number, SendQueue sends) {
        this.pair = pair;
        this.number = number;
        this.sends = sends;
    }

    /** Sets the queue that work requests complete in. */
    void complete(TcpCompletionQueue in) {
        completions = in;
    }

    /** Called when the queue pair is connected. */
    void start(Transmitter by) {
        transmitter = by;
    }

    /** Fails a work request that cannot be executed once all earlier ones have completed. */
    void checkNext() {
        long next = transmitter.sent() + 1;
        if (pair.isError() || next > sends.posted() || !sends.isBad(next)) {
            return;
        }
        if (completed == next - 1) {
            pair.fail(next, CompletionStatus.LOC_PROT_ERR);
        } else if (!asked) {
            asked = true;
            transmitter.ask();
            transmitter.transmit(false);
        }
    }

    private long widen(int request) {
        return completed + (request - (int) completed);
    }

    /** Handles an acknowledgement: the peer has executed all requests up to a number. Returns whether that is possible. */
    boolean acknowledge(int last) {
        long upTo = widen(last);
        if (pair.isError() || upTo <= executed) {
            return true;
        }
        if (upTo > transmitter.sentCompletely()) {
            pair.violated("the acknowledgement of a request that has not been sent completely");
            return false;
        }
        executed = upTo;
        while (completed < upTo) {
            if (sends.isAnswered(completed + 1)) {
                pair.violated("the acknowledgement of a read instead of its answer");
                return false;
            }
            succeed();
            if (pair.isError()) {
                return true;
            }
        }
        asked = false;
        return true;
    }

    /** Completes the next requests as far as they complete as soon as the socket has taken them, and it has taken them. */
    void transmitted() {
        long taken = transmitter.sentCompletely();
        while (completed < taken && sends.isOnce(completed + 1) && !pair.isError()) {
            succeed();
        }
    }

    /** Completes the next request successfully. */
    private void succeed() {
        long request = ++completed;
        // Before the completion is added: its owner may then post another request in this slot.
        sends.done(request);
        if (sends.isSignalled(request)) {
            CompletionOpcode opcode = switch (sends.type(request)) {
                case Wire.SEND -> CompletionOpcode.SEND;
                case Wire.WRITE, Wire.ATOMIC_WRITE -> CompletionOpcode.RDMA_WRITE;
                default -> CompletionOpcode.RDMA_READ;
            };
            if (!completions.add(sends.context(request), 0, opcode.code(), 0, sends.length(request) & 0xffff_ffffL, 0,
                number, request)) {
                pair.fail(0, CompletionStatus.WR_FLUSH_ERR);
            }
        }
    }

    /** Returns the request that the next answer belongs to, 0 if there is none. */
    long awaitedAnswer() {
        for (long request = completed + 1; request <= transmitter.sentCompletely(); request++) {
            if (sends.isAnswered(request)) {
                return request;
            }
        }
        return 0;
    }

    /** Handles a complete answer, which implies that all earlier requests have been executed. */
    void answered() {
        long request = awaitedAnswer();
        while (completed < request && !pair.isError()) {
            succeed();
        }
        executed = Math.max(executed, request);
        transmitter.answered();
    }

    /** Handles the refusal of a request by the peer. */
    void refused(int request, int status) {
        long culprit = widen(request);
        if (pair.isError()) {
            return;
        }
        CompletionStatus why = CompletionStatus.of(status);
        // The queue pair of the peer may have failed after it had no receive for the request. The request may have completed as
        // soon as the socket had taken it.
        if (culprit <= executed || culprit > transmitter.sentBefore()
            || why == CompletionStatus.SUCCESS || why.code() != status) {
            pair.violated("the refusal of a request that has not been sent");
            return;
        }
        pair.fail(culprit, why);
    }

    /** Handles the notification that the peer has no receive for a request. */
    void stalled(int request) {
        long stalledAt = widen(request);
        if (pair.isError()) {
            return;
        }
        if (stalledAt <= completed || stalledAt > transmitter.sent() || !takesReceive(stalledAt)) {
            pair.violated("a notification that it has no receive for a request that needs none");
            return;
        }
        // If the peer has been asked, it acknowledges what it has executed now, and so says nothing about this request later.
        asked = false;
        transmitter.stall(stalledAt);
    }

    private boolean takesReceive(long request) {
        return sends.type(request) == Wire.SEND
            || sends.type(request) == Wire.WRITE && (sends.flags(request) & Wire.WITH_IMMEDIATE) != 0;
    }

    /** Handles the notification that the peer now has a receive for a stalled request. */
    void resumed(int request) {
        if (!pair.isError() && !transmitter.resume(widen(request))) {
            pair.violated("a notification of a receive that no request waits for");
        }
    }

    // ---- failing

    /**
     * Completes the work requests up to one that has failed.
     *
     * @param culprit the work request that completes with the status; the earlier ones are flushed
     */
    void fail(long culprit, CompletionStatus status) {
        while (completed < culprit) {
            end(completed + 1, completed + 1 == culprit ? status : CompletionStatus.WR_FLUSH_ERR);
        }
    }

    /** Flushes the work requests that have not completed. */
    void flush() {
        long last = sends.posted();
        while (completed < last) {
            end(completed + 1, CompletionStatus.WR_FLUSH_ERR);
        }
    }

    private void end(long request, CompletionStatus status) {
        completed = request;
        sends.done(request);
        completions.add(sends.context(request), status.code(), 0, 0, 0, 0, number, request);
    }
}
