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

import io.rpma.CompletionStatus;
import io.rpma.RpmaLog;
import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.posix.TcpSockets;

/**
 * The sending half of a connection: writes frames to the socket, as many as one system call takes, with the payload directly from
 * registered memory. Only the holder of the queue pair uses it.
 */
final class Transmitter {
    // The kinds of frames in a batch.
    private static final int CONTROL_READY = 1;
    private static final int CONTROL_NAK = 2;
    private static final int CONTROL_NOT_READY = 3;
    private static final int CONTROL_RESUME = 4;
    private static final int CONTROL_ACK = 5;
    private static final int CONTROL_ASK = 8;
    private static final int ANSWER = 6;
    private static final int REQUEST = 7;
    /** Bytes passed to one system call. */
    private static final long MOST_BYTES = 1 << 20;
    /** Bytes sent in one drive, so that other connections are served as well. */
    private static final long BUDGET = 4 << 20;
    /**
     * The smallest rest of a frame, in bytes, that is not sent before the kernel reports room, which it does when a third of the
     * send buffer is free. A thread that polls would otherwise fill each small gap by a call of its own.
     */
    private static final long LARGE_REST = 128 << 10;

    private final ErrorState pair;
    private final SendQueue sends;
    private final int socket;
    // The rest of a frame that the socket accepted in part: a copy of its header, and its payload.
    private final long headerCopy;
    private long headerAt;
    private long headerLeft;
    private long payloadAt;
    private long payloadLeft;
    private TcpLocalMemoryRegion payloadRegion;
    // The number of the request whose frame that is, 0 if it is not the frame of a request.
    private long partialRequest;
    private final Answers answers = new Answers();
    private long sent;
    private long sentBefore;
    private int readsUnderWay;
    private boolean stalled;
    private boolean blocked;
    private boolean ended;
    private boolean broken;
    private boolean readyOwed;
    private boolean nakOwed;
    private boolean nakSent;
    private long nakNumber;
    private int nakStatus;
    private boolean notReadyOwed;
    private boolean resumeOwed;
    private boolean askOwed;
    private long executed;
    private long wanted;
    private long acknowledged;

    Transmitter(ErrorState pair, SendQueue sends, int socket, long headerCopy) {
        this.pair = pair;
        this.sends = sends;
        this.socket = socket;
        this.headerCopy = headerCopy;
    }

    // ---- called by the receiving half

    /** Notes that a request of the peer has been executed; a read or a persistent flush still has to be answered. */
    void executed(long number, boolean isWanted) {
        executed = number;
        if (isWanted) {
            wanted = number;
        }
    }

    /** Returns the number of the last request that was executed. */
    long executed() {
        return executed;
    }

    Answers answers() {
        return answers;
    }

    /**
     * Refuses a request. Only the first refusal of a connection is sent, after the answers to earlier requests. If one of these
     * cannot be answered, it is refused instead.
     */
    void refuse(long number, CompletionStatus status) {
        if (!nakSent && (!nakOwed || number < nakNumber)) {
            nakOwed = true;
            nakNumber = number;
            nakStatus = status.code();
            answers.removeFrom(number);
        }
    }

    void oweReady() {
        readyOwed = true;
    }

    void oweNotReady() {
        notReadyOwed = true;
    }

    void oweResume() {
        resumeOwed = true;
    }

    /** Requests an acknowledgement from the peer. */
    void ask() {
        askOwed = true;
    }

    /** Handles the peer's request for an acknowledgement. */
    void wantAcknowledgement() {
        wanted = executed;
        acknowledged = Math.min(acknowledged, executed - 1);
    }

    /** Notes that an answer has been received completely. */
    void answered() {
        readsUnderWay--;
    }

    /** Returns the number of the last request that has been sent, at least in part. */
    long sent() {
        return sent;
    }

    /** Returns the number of the last request that has ever been sent, also if it will be sent again for lack of a receive. */
    long sentBefore() {
        return sentBefore;
    }

    /**
     * Returns the number of the last request whose frame the socket has taken completely. The peer cannot have executed a later
     * one, and the rest of a later one is still to be read from its memory.
     */
    long sentCompletely() {
        return partialRequest == 0 ? sent : Math.min(sent, partialRequest - 1);
    }

    /** Stops sending because the peer has no receive for a request; sending continues from that request. */
    void stall(long number) {
        stalled = true;
        for (long dropped = number; dropped <= sent; dropped++) {
            if (sends.isAnswered(dropped)) {
                readsUnderWay--;
            }
        }
        sent = number - 1;
    }

    /** Resumes sending because the peer has a receive now. Returns whether this side waited for that. */
    boolean resume(long number) {
        if (!stalled || number != sent + 1) {
            return false;
        }
        stalled = false;
        return true;
    }

    /** Returns whether there is something to send, and the socket's send buffer is full. */
    boolean isBlocked() {
        return blocked;
    }

    /** Returns whether nothing can be sent any more. */
    boolean hasEnded() {
        return ended;
    }

    /**
     * Returns whether the socket has failed for another reason than the end of the peer. The kernel reports such an error once:
     * if this half has got it, the receiving half only finds the end of the stream.
     */
    boolean isBroken() {
        return broken;
    }

    /** Returns the last request that may be acknowledged: the one before the first that still has to be answered, or refused. */
    private long acknowledgeable() {
        if (!answers.isEmpty()) {
            return answers.number(0) - 1;
        }
        return nakOwed || nakSent ? nakNumber - 1 : executed;
    }

    /** Returns whether the peer waits for an acknowledgement that no frame has carried yet. */
    boolean owesAcknowledgement() {
        return wanted > acknowledged && unacknowledged() > 0 && !ended;
    }

    /** Returns the number of requests that may be acknowledged, and that no frame has acknowledged yet. */
    long unacknowledged() {
        return acknowledgeable() - acknowledged;
    }

    // ---- sending

    /**
     * Sends all pending frames, as far as the socket takes them. The rest of a large frame waits until the kernel reports room.
     *
     * @param acknowledging whether a pending acknowledgement is sent in a frame of its own if no other frame carries it
     * @return whether there may be more that the socket would take
     */
    boolean transmit(boolean acknowledging) {
        if (blocked && payloadLeft >= LARGE_REST && !hasRoom()) {
            return false;
        }
        long left = BUDGET;
        while (!ended) {
            if (left <= 0) {
                return true;
            }
            Batch batch = Batch.get();
            batch.reset();
            boolean entered = payloadLeft > 0 && payloadRegion != null;
            if (entered && !payloadRegion.enter()) {
                withdrawn();
                return false;
            }
            long rest;
            long count;
            try {
                gatherRest(batch);
                rest = batch.bytes;
                gather(batch, acknowledging);
                if (batch.bytes == 0) {
                    blocked = false;
                    return false;
                }
                // If the queue pair has failed while answers were gathered, the sending direction may have ended. The kernel then
                // takes nothing.
                count = TcpSockets.send(socket, batch.header(batch.vectorCount));
            } finally {
                if (entered) {
                    payloadRegion.exit();
                }
                exitRegions(batch);
            }
            if (count == -Posix.EINTR) {
                continue;
            }
            if (count < 0) {
                failed((int) -count);
                return false;
            }
            left -= count;
            settle(batch, rest, count);
            blocked = count < batch.bytes;
            if (blocked) {
                return false;
            }
        }
        return false;
    }

    /** Returns whether the kernel reports room, or an error, or the rest of an answer can no longer be read. */
    private boolean hasRoom() {
        return payloadRegion != null && !payloadRegion.isOpen() || Sockets.poll(socket, Sockets.POLLOUT, 0) != 0;
    }

    /** Ends the connection, because the rest of an answer can no longer be read. */
    private void withdrawn() {
        TcpLog.log(RpmaLog.Level.WARNING, "a region was closed while the peer was reading it: the connection ends");
        pair.breakOff();
    }

    private void failed(int errno) {
        if (errno == Posix.EAGAIN || errno == Sockets.ENOBUFS || errno == Posix.ENOMEM) {
            blocked = true;
            return;
        }
        // The peer may have sent data before it closed. The receiver reads it, and its end is the end of the connection.
        ended = true;
        blocked = false;
        broken = errno != Sockets.EPIPE && errno != Sockets.ECONNRESET;
        answers.clear();
        if (errno == Posix.EFAULT) {
            TcpLog.log(RpmaLog.Level.ERROR, "registered memory is no longer mapped: the connection ends");
            pair.breakOff();
        }
    }

    /** Adds the rest of the frame that the socket has accepted in part. */
    private void gatherRest(Batch batch) {
        if (headerLeft > 0) {
            batch.add(headerAt, headerLeft);
        }
        if (payloadLeft > 0) {
            batch.add(payloadAt, payloadLeft);
        }
    }

    /** Ends the accesses to the regions of the frames in a batch, which {@link #gatherAnswers} began. */
    private static void exitRegions(Batch batch) {
        for (int i = 0; i < batch.count; i++) {
            if (batch.regions[i] != null) {
                batch.regions[i].exit();
            }
        }
    }

    /** Collects headers and payloads in a batch. It changes no state: {@link #settle} does, for what the socket has taken. */
    private void gather(Batch batch, boolean acknowledging) {
        int acknowledgement = (int) acknowledgeable();
        if (readyOwed) {
            control(batch, CONTROL_READY, Wire.READY, 0, 0, acknowledgement);
        }
        if (notReadyOwed) {
            control(batch, CONTROL_NOT_READY, Wire.NOT_READY, executed + 1, 0, acknowledgement);
        }
        if (resumeOwed) {
            control(batch, CONTROL_RESUME, Wire.RESUME, executed + 1, 0, acknowledgement);
        }
        boolean answered = gatherAnswers(batch, acknowledgement);
        if (nakOwed && answered && !batch.isFull()) {
            control(batch, CONTROL_NAK, Wire.NAK, nakNumber, nakStatus, acknowledgement);
        }
        gatherRequests(batch, acknowledgement);
        if (askOwed && !batch.isFull()) {
            Wire.write(batch.frame(batch.count), Wire.ACK, Wire.WANTED, 0, 0, acknowledgement, 0, 0, 0);
            batch.addFrame(CONTROL_ASK, 0, 0, 0, null);
        }
        if (batch.count == 0 && acknowledging && owesAcknowledgement()) {
            control(batch, CONTROL_ACK, Wire.ACK, 0, 0, acknowledgement);
        }
    }

    private static void control(Batch batch, int kind, int type, long number, int immediate, int acknowledgement) {
        Wire.write(batch.frame(batch.count), type, 0, 0, (int) number, acknowledgement, immediate, 0, 0);
        batch.addFrame(kind, number, 0, 0, null);
    }

    /** Collects answers. Returns whether no other answers are left. */
    private boolean gatherAnswers(Batch batch, int acknowledgement) {
        for (int place = 0; place < answers.count(); place++) {
            if (batch.isFull() || batch.bytes >= MOST_BYTES) {
                return false;
            }
            long number = answers.number(place);
            if (answers.type(place) == Wire.FLUSH_PERSISTENT) {
                if (place > 0 || answers.persisted() == Answers.PENDING) {
                    return false;
                }
                if (answers.persisted() < 0) {
                    pair.refuse(number, CompletionStatus.REM_OP_ERR);
                    return true;
                }
                Wire.write(batch.frame(batch.count), Wire.PERSISTED, 0, 0, (int) number, acknowledgement, 0, 0, 0);
                batch.addFrame(ANSWER, number, 0, 0, null);
                continue;
            }
            TcpLocalMemoryRegion region = answers.region(place);
            if (region != null && !region.enter()) {
                pair.refuse(number, CompletionStatus.REM_ACCESS_ERR);
                return true;
            }
            long length = answers.length(place);
            Wire.write(batch.frame(batch.count), Wire.READ_DATA, 0, (int) length, (int) number, acknowledgement, 0, 0, 0);
            batch.addFrame(ANSWER, number, answers.address(place), length, region);
        }
        return true;
    }

    private void gatherRequests(Batch batch, int acknowledgement) {
        if (stalled || pair.isError()) {
            return;
        }
        long last = sends.posted();
        int reads = readsUnderWay;
        for (long number = sent + 1; number <= last && !batch.isFull() && batch.bytes < MOST_BYTES; number++) {
            if (sends.isBad(number) || sends.isAnswered(number) && reads++ >= Wire.MAX_READS) {
                return;
            }
            int type = sends.type(number);
            int length = sends.length(number);
            long payload = sends.source(number);
            long payloadLength = type == Wire.SEND || type == Wire.WRITE ? length : 0;
            long at = batch.frame(batch.count);
            Wire.write(at, type, sends.flags(number), length, (int) number, acknowledgement, sends.immediate(number),
                sends.address(number), sends.key(number));
            if (type == Wire.ATOMIC_WRITE) {
                // The value occupies the immediate data and the reserved bytes.
                Memory.putLong(at + Wire.VALUE, sends.value(number));
            }
            batch.addFrame(REQUEST, number, payload, payloadLength, null);
        }
    }

    /** Updates the state for the bytes that the socket has taken. */
    private void settle(Batch batch, long rest, long count) {
        long left = count;
        if (rest > 0) {
            long headerPart = Math.min(left, headerLeft);
            headerAt += headerPart;
            headerLeft -= headerPart;
            left -= headerPart;
            long payloadPart = Math.min(left, payloadLeft);
            payloadAt += payloadPart;
            payloadLeft -= payloadPart;
            left -= payloadPart;
            if (payloadLeft == 0) {
                payloadRegion = null;
            }
            if (headerLeft == 0 && payloadLeft == 0) {
                partialRequest = 0;
            }
        }
        for (int i = 0; i < batch.count && left > 0; i++) {
            started(batch, i);
            long frame = Wire.HEADER + batch.lengths[i];
            if (left < frame) {
                headerLeft = Math.max(0, Wire.HEADER - left);
                headerAt = headerCopy + Wire.HEADER - headerLeft;
                Memory.copy(batch.frame(i), headerCopy, Wire.HEADER);
                long payloadPart = Math.max(0, left - Wire.HEADER);
                payloadAt = batch.payloads[i] + payloadPart;
                payloadLeft = batch.lengths[i] - payloadPart;
                payloadRegion = batch.regions[i];
                partialRequest = batch.kinds[i] == REQUEST ? batch.numbers[i] : 0;
                return;
            }
            left -= frame;
        }
    }

    /** Updates the state for a frame whose first byte has been sent, so that all of it has to be. */
    private void started(Batch batch, int index) {
        acknowledged = Math.max(acknowledged, widen(Wire.acknowledged(batch.frame(index))));
        switch (batch.kinds[index]) {
            case CONTROL_READY -> readyOwed = false;
            case CONTROL_NAK -> {
                nakOwed = false;
                nakSent = true;
            }
            case CONTROL_NOT_READY -> notReadyOwed = false;
            case CONTROL_RESUME -> resumeOwed = false;
            case CONTROL_ASK -> askOwed = false;
            case ANSWER -> answers.remove();
            case REQUEST -> {
                long number = batch.numbers[index];
                sent = number;
                sentBefore = Math.max(sentBefore, number);
                if (sends.isAnswered(number)) {
                    readsUnderWay++;
                }
            }
            default -> { }
        }
    }

    private long widen(int acknowledgement) {
        return executed - ((int) executed - acknowledgement);
    }

    /**
     * Called when the queue pair fails, before its requests complete. If the rest of a request is still to be read from its
     * memory, which the application may change as soon as the request has completed, this method ends the sending direction in
     * the middle of the frame. Answers are still sent, from memory that is registered.
     */
    void fail() {
        if (partialRequest != 0 && payloadLeft > 0) {
            end();
        }
    }

    /** Ends the sending direction, even in the middle of a frame. */
    void end() {
        if (!ended) {
            ended = true;
            blocked = false;
            answers.clear();
            Sockets.shutdownWrite(socket);
        }
    }
}
