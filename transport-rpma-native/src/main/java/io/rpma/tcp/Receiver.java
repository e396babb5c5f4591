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
import io.rpma.ConnectionEvent;
import io.rpma.MemoryUsage;
import io.rpma.RpmaLog;
import io.rpma.WorkCompletions;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;

/**
 * The receiving half of a connection: reads frames, checks all their fields, and executes them. Large payloads are read from the
 * socket directly to their target; several small frames are read by one call. Only the holder of the queue pair uses it.
 */
final class Receiver {
    private final Handler pair;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final Completer completer;
    private final Transmitter transmitter;
    private final ProtectionDomain domain;
    private final OneSidedRequests oneSided;
    private final int socket;
    // The header of the current frame, as far as it has been received.
    private final long header;
    private int headerHave;
    private final ArrivingPayload payload = new ArrivingPayload();
    private final Receives.Taken taken = new Receives.Taken();
    private boolean holdsReceive;
    private final MessageDeadline deadline = new MessageDeadline();
    private boolean dropping;
    private boolean resumed;
    // Whether the header is that of a request that is not sent again, and there is no receive for it. Nothing is read then; what
    // one call has read beyond the header is kept.
    private boolean paused;
    private final KeptData kept = new KeptData();
    private boolean ended;

    /**
     * Handles what the receiving half learns of the connection as a whole. {@link QueuePair} alone implements it; the thread that
     * holds the queue pair calls the methods.
     */
    interface Handler extends ErrorState {
        /** Counts data that has arrived. */
        void received();

        /** Handles the client's confirmation of the connection. */
        void ready();

        /** Handles the end of the data from the peer. */
        void peerEnded(ConnectionEvent event);
    }

    /**
     * Creates the receiving half.
     *
     * @param domain whose regions the peer can access
     * @param header the address of memory for one header
     */
    Receiver(Handler pair, SendQueue sends, ReceiveQueue receives, Completer completer, Transmitter transmitter,
            ProtectionDomain domain, int socket, long header) {
        this.pair = pair;
        this.sends = sends;
        this.receives = receives;
        this.completer = completer;
        this.transmitter = transmitter;
        this.domain = domain;
        this.socket = socket;
        this.header = header;
        oneSided = new OneSidedRequests(pair, domain, transmitter, header);
    }

    boolean hasEnded() {
        return ended;
    }

    /** Ends reading. Nothing that has been kept is processed any more. */
    void end() {
        ended = true;
        if (paused) {
            paused = false;
            kept.take();
            kept.trim();
        }
    }

    /**
     * Reads the data that has arrived, up to a budget.
     *
     * @param budget the bytes after which this method returns, so that other connections are served as well
     * @return whether no data was left
     */
    boolean receive(long budget) {
        Batch batch = Batch.get();
        long left = budget;
        while (!ended) {
            if (paused && !continueReading()) {
                return true;
            }
            if (left <= 0) {
                return false;
            }
            long directly = payload.directly();
            boolean direct = directly > 0;
            if (direct && !payload.enter()) {
                withdrawn();
                continue;
            }
            int after = direct && directly < payload.left() ? 0 : payload.ahead();
            // The socket stores the rest of the payload in its target, and what follows in the batch.
            long count;
            try {
                count = TcpSockets.receive(socket, batch.header(payload.target(), directly, batch.buffer(), after));
            } finally {
                if (direct) {
                    payload.exit();
                }
            }
            if (count == -Posix.EINTR) {
                continue;
            }
            if (count <= 0) {
                stopped((int) -count);
                return true;
            }
            pair.received();
            left -= count;
            long stored = direct ? advance(count) : 0;
            parse(batch.buffer(), count - stored);
            if (count < directly + after) {
                return true;
            }
        }
        return true;
    }

    /** Updates the state for bytes that the socket has stored, first in the target. Returns how many it has stored there. */
    private long advance(long count) {
        long part = Math.min(count, payload.left());
        if (payload.advance(part)) {
            finish();
        }
        return part;
    }

    private void stopped(int errno) {
        switch (errno) {
            case Posix.EAGAIN -> { }
            case Posix.EFAULT -> unmapped();
            // The end of the stream: an orderly close, or the end of the process at the other end.
            case 0, Sockets.ECONNRESET, Sockets.EPIPE ->
                pair.peerEnded(transmitter.isBroken() ? ConnectionEvent.LOST : ConnectionEvent.CLOSED);
            default -> pair.peerEnded(ConnectionEvent.LOST);
        }
    }

    private void unmapped() {
        TcpLog.log(RpmaLog.Level.ERROR, "registered memory is no longer mapped: the connection ends");
        pair.breakOff();
    }

    private void parse(long from, long length) {
        long at = from;
        long end = from + length;
        while (at < end && !ended) {
            if (payload.isExpected()) {
                store(at, Math.min(payload.left(), end - at));
                at += advance(end - at);
                continue;
            }
            long part = Math.min(Wire.HEADER - headerHave, end - at);
            Memory.copy(at, header + headerHave, part);
            at += part;
            headerHave += (int) part;
            if (headerHave == Wire.HEADER) {
                headerHave = 0;
                begin();
                if (paused) {
                    kept.keep(at, end - at);
                    return;
                }
            }
        }
    }

    // ---- pausing

    /** Continues with the request at which reading has paused. Returns whether there was a receive for it, and for those kept. */
    private boolean continueReading() {
        if (!canContinue()) {
            return false;
        }
        paused = false;
        request(Wire.type(header), Wire.length(header));
        if (!paused && !ended) {
            parse(kept.address(), kept.take());
        }
        if (!paused) {
            kept.trim();
        }
        return !paused;
    }

    /** Ends a pause without a receive, and reading with it: the peer has ended the connection, or it has failed. */
    void giveUpPause() {
        stopped(-Sockets.pendingError(socket));
    }

    /** Returns whether reading is paused until there is a receive. */
    boolean isPaused() {
        return paused;
    }

    /** Returns whether reading can continue after a pause: there is a receive, or the queue pair has failed and needs none. */
    boolean canContinue() {
        return pair.isError() || !receives.isEmpty();
    }

    private void store(long from, long length) {
        if (payload.isDiscarded()) {
            return;
        }
        if (!payload.enter()) {
            withdrawn();
            return;
        }
        boolean isMapped = true;
        try {
            payload.copy(from, length);
        } catch (InternalError e) {
            // The JVM reports an access to a page that does not exist, such as one behind the end of a file, in this way.
            isMapped = false;
        } finally {
            payload.exit();
        }
        if (!isMapped) {
            unmapped();
        }
    }

    /** Refuses a request whose target region has been closed, and discards the rest of its payload. */
    private void withdrawn() {
        payload.discard();
        long number = transmitter.executed() + 1;
        switch (Wire.type(header)) {
            case Wire.READ_DATA -> pair.fail(completer.awaitedAnswer(), CompletionStatus.LOC_PROT_ERR);
            case Wire.SEND -> refuse(number, CompletionStatus.REM_OP_ERR, CompletionStatus.LOC_PROT_ERR);
            default -> refuse(number, CompletionStatus.REM_ACCESS_ERR, CompletionStatus.WR_FLUSH_ERR);
        }
    }

    // ---- frames

    private void expectPayload(long to, TcpLocalMemoryRegion in, long length) {
        payload.expect(to, in, length);
        if (length == 0) {
            finish();
        }
    }

    /** Discards the payload of a frame. If it has none, the frame is complete and has no effect. */
    private void drop(long length) {
        payload.expect(0, null, length);
    }

    private void begin() {
        int type = Wire.type(header);
        int length = Wire.length(header);
        boolean flush = type == Wire.FLUSH || type == Wire.FLUSH_PERSISTENT;
        if ((Wire.reserved(header) != 0 && type != Wire.ATOMIC_WRITE)
            || !flush && (length < 0 || length > Limits.MAX_MESSAGE)) {
            pair.violated("an invalid frame of type " + type + " and length " + Integer.toUnsignedString(length));
            return;
        }
        if (!completer.acknowledge(Wire.acknowledged(header))) {
            return;
        }
        switch (type) {
            case Wire.SEND, Wire.WRITE, Wire.READ, Wire.ATOMIC_WRITE, Wire.FLUSH, Wire.FLUSH_PERSISTENT -> request(type, length);
            case Wire.READ_DATA, Wire.PERSISTED -> answer(type, length);
            case Wire.READY -> pair.ready();
            case Wire.ACK -> {
                if (Wire.isWanted(header)) {
                    transmitter.wantAcknowledgement();
                }
            }
            case Wire.NAK -> completer.refused(Wire.number(header), Wire.immediate(header));
            case Wire.NOT_READY -> completer.stalled(Wire.number(header));
            case Wire.RESUME -> completer.resumed(Wire.number(header));
            default -> pair.violated("a frame of unknown type " + type);
        }
    }

    private void request(int type, int length) {
        long next = transmitter.executed() + 1;
        int ahead = Wire.number(header) - (int) next;
        long carried = type == Wire.SEND || type == Wire.WRITE ? length : 0;
        if (pair.isError()) {
            // A device in the error state would not respond, and the peer would time out. Refuse at once with the same status.
            transmitter.refuse(next, CompletionStatus.RETRY_EXC_ERR);
            drop(carried);
            return;
        }
        if (dropping && ahead > 0) {
            drop(carried);
            return;
        }
        if (ahead != 0 || dropping && !resumed) {
            pair.violated("request number " + Wire.number(header) + " instead of " + (int) next);
            return;
        }
        dropping = false;
        boolean immediate = (Wire.flags(header) & Wire.WITH_IMMEDIATE) != 0;
        if ((type == Wire.SEND || type == Wire.WRITE && immediate) && !receives.take(taken)) {
            if ((Wire.flags(header) & Wire.ONCE) != 0) {
                paused = true;
            } else {
                starve(carried);
            }
            return;
        }
        switch (type) {
            case Wire.SEND -> {
                holdsReceive = true;
                beginSend(next, length);
            }
            case Wire.WRITE -> {
                holdsReceive = immediate;
                beginWrite(next, length);
            }
            case Wire.READ -> oneSided.read(next, length);
            case Wire.ATOMIC_WRITE -> oneSided.atomicWrite(next);
            default -> oneSided.flush(type, next, length & 0xffff_ffffL | (long) Wire.immediate(header) << 32);
        }
    }

    /** Drops a request for which there is no receive. The peer sends it again when there is one. */
    private void starve(long length) {
        dropping = true;
        resumed = false;
        transmitter.oweNotReady();
        drop(length);
    }

    private void beginSend(long number, int length) {
        if (!Receives.isUsable(taken, domain)) {
            refuse(number, CompletionStatus.REM_OP_ERR, CompletionStatus.LOC_PROT_ERR);
            drop(length);
        } else if (length > taken.length) {
            refuse(number, CompletionStatus.REM_INV_REQ_ERR, CompletionStatus.LOC_LEN_ERR);
            drop(length);
        } else {
            expectPayload(taken.region == null ? 0 : taken.region.address() + taken.offset, taken.region, length);
        }
    }

    private void beginWrite(long number, int length) {
        if (length == 0) {
            expectPayload(0, null, 0);
            return;
        }
        TcpLocalMemoryRegion found = oneSided.reach(number, MemoryUsage.WRITE_DST, length);
        expectPayload(found == null ? 0 : Wire.address(header), found, length);
    }

    private void answer(int type, int length) {
        if (pair.isError()) {
            drop(length);
            return;
        }
        long number = completer.awaitedAnswer();
        if (number == 0 || (int) number != Wire.number(header)
            || sends.type(number) != (type == Wire.READ_DATA ? Wire.READ : Wire.FLUSH_PERSISTENT)
            || length != (type == Wire.READ_DATA ? sends.length(number) : 0)) {
            pair.violated("an answer that no request waits for");
            return;
        }
        expectPayload(length == 0 ? 0 : sends.source(number), sends.region(number), length);
    }

    // ---- complete frames

    private void finish() {
        payload.end();
        int type = Wire.type(header);
        boolean isRequest = type == Wire.SEND || type == Wire.WRITE;
        if (dropping && isRequest) {
            // It waits for a receive. Meanwhile answers are still processed.
            return;
        }
        long number = transmitter.executed() + 1;
        if (pair.isError()) {
            if (isRequest) {
                // The queue pair has failed while the payload was arriving: refuse the request, as request() does.
                transmitter.refuse(number, CompletionStatus.RETRY_EXC_ERR);
            }
        } else if (isRequest) {
            if (holdsReceive) {
                receive(type == Wire.SEND ? CompletionOpcode.RECV : CompletionOpcode.RECV_RDMA_WITH_IMM);
            }
            transmitter.executed(number, Wire.isWanted(header));
        } else {
            completer.answered();
        }
    }

    private void receive(CompletionOpcode opcode) {
        holdsReceive = false;
        boolean immediate = (Wire.flags(header) & Wire.WITH_IMMEDIATE) != 0;
        receives.complete(taken.context, CompletionStatus.SUCCESS, opcode.code(),
            immediate ? WorkCompletions.FLAG_WITH_IMMEDIATE : 0, Wire.length(header), Wire.immediate(header));
        taken.clear();
    }

    /** Refuses a request, which breaks the queue pair. If the request took a receive, that completes with the second status. */
    private void refuse(long number, CompletionStatus answer, CompletionStatus own) {
        if (holdsReceive && own != CompletionStatus.WR_FLUSH_ERR) {
            holdsReceive = false;
            receives.complete(taken.context, own, 0, 0, 0, 0);
            taken.clear();
        }
        pair.refuse(number, answer);
    }

    /**
     * Called when the queue pair has failed or is closed, or when the rest of a message will not arrive: discards the rest of the
     * payload that is arriving, because its target may be the memory of a read that has been flushed, and gives back the receive
     * that a message has begun to fill.
     */
    void giveUp() {
        payload.discard();
        if (holdsReceive) {
            holdsReceive = false;
            receives.abandon(taken);
            taken.clear();
        }
    }

    /** Returns whether a message holds a receive and arrives too slowly; see {@link MessageDeadline}. */
    boolean isTooSlow(long nanos) {
        return holdsReceive && deadline.hasPassed(transmitter.executed() + 1, payload.left(), System.nanoTime(), nanos);
    }

    /** Lets the peer send the dropped requests again if there is a receive now. */
    void resumeIfPossible() {
        if (dropping && !resumed && !pair.isError() && !receives.isEmpty()) {
            resumed = true;
            transmitter.oweResume();
        }
    }

    /**
     * Called when the queue pair is about to fail: refuses the request that was dropped for lack of a receive. The peer would
     * wait until it may send the request again.
     */
    void refuseStalled() {
        if (dropping && !resumed) {
            transmitter.refuse(transmitter.executed() + 1, CompletionStatus.RETRY_EXC_ERR);
        }
    }

    /** Returns whether a request of the peer waits for a receive: none does after the end, or when the queue pair has failed. */
    boolean isStarved() {
        return !ended && !pair.isError() && (paused || dropping && !resumed);
    }
}
