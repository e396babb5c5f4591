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
 * The receiving half of a connection: reads frames, checks everything in them, and executes them. Large payloads go from the
 * socket straight to where they belong; small frames are read together. Only for whoever holds the queue pair.
 */
final class Receiver {
    /** From so many bytes on a payload is read straight to its place. */
    private static final int DIRECT = 2048;
    /** A payload of so many bytes makes it likely that the next one is as long. */
    private static final int LARGE = 8192;
    /** What is read behind a large payload: the next header, and little that would have to be copied. */
    private static final int SHORT_AHEAD = 256;

    private final QueuePair pair;
    private final Transmitter transmitter;
    private final TcpPeer peer;
    private final int socket;
    // The header of the frame at hand, as far as it has come.
    private final long header;
    private int headerHave;
    private boolean inPayload;
    // Where the rest of the payload goes; 0 drops it.
    private long target;
    private TcpLocalMemoryRegion region;
    private long payloadLeft;
    private int ahead = Batch.BUFFER;
    private final Receives.Taken taken = new Receives.Taken();
    private boolean holdsReceive;
    private boolean dropping;
    private boolean resumed;
    private boolean ended;

    Receiver(QueuePair pair, Transmitter transmitter, TcpPeer peer, int socket, long header) {
        this.pair = pair;
        this.transmitter = transmitter;
        this.peer = peer;
        this.socket = socket;
        this.header = header;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Reads no more. */
    void end() {
        ended = true;
    }

    /**
     * Reads what has come, as long as it is not too much.
     *
     * @param budget bytes after which others get their turn
     * @return whether nothing was left
     */
    boolean receive(long budget) {
        Batch batch = Batch.get();
        long left = budget;
        while (!ended) {
            if (left <= 0) {
                return false;
            }
            boolean direct = inPayload && target != 0 && payloadLeft >= DIRECT;
            if (direct && region != null && !region.enter()) {
                withdrawn();
                continue;
            }
            int vectors = 0;
            long want = ahead;
            if (direct) {
                batch.set(vectors++, target, payloadLeft);
                want += payloadLeft;
            }
            batch.set(vectors++, batch.buffer(), ahead);
            long count = TcpSockets.receive(socket, batch.header(vectors));
            if (direct && region != null) {
                region.exit();
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
            long buffered = count;
            if (direct) {
                long part = Math.min(count, payloadLeft);
                buffered -= part;
                target += part;
                payloadLeft -= part;
                if (payloadLeft == 0) {
                    finish();
                }
            }
            parse(batch.buffer(), buffered);
            if (count < want) {
                return true;
            }
        }
        return true;
    }

    private void stopped(int errno) {
        switch (errno) {
            case Posix.EAGAIN -> { }
            case Posix.EFAULT -> {
                TcpLog.log(RpmaLog.Level.ERROR, "memory that is registered is not mapped any more: the connection ends");
                pair.breakOff();
            }
            // The end, in order or by the death of the process at the other end.
            case 0, Sockets.ECONNRESET, Sockets.EPIPE -> pair.peerEnded(ConnectionEvent.CLOSED);
            default -> pair.peerEnded(ConnectionEvent.LOST);
        }
    }

    private void parse(long from, long length) {
        long at = from;
        long end = from + length;
        while (at < end && !ended) {
            if (inPayload) {
                long part = Math.min(payloadLeft, end - at);
                store(at, part);
                at += part;
                payloadLeft -= part;
                if (payloadLeft == 0) {
                    finish();
                }
                continue;
            }
            long part = Math.min(Wire.HEADER - headerHave, end - at);
            Memory.copy(at, header + headerHave, part);
            at += part;
            headerHave += (int) part;
            if (headerHave == Wire.HEADER) {
                headerHave = 0;
                begin();
            }
        }
    }

    private void store(long from, long length) {
        if (target == 0) {
            return;
        }
        if (region != null && !region.enter()) {
            withdrawn();
            return;
        }
        Memory.copy(from, target, length);
        target += length;
        if (region != null) {
            region.exit();
        }
    }

    /** The region that a payload goes to has been closed: the rest of the payload is dropped. */
    private void withdrawn() {
        target = 0;
        region = null;
        long number = transmitter.executed() + 1;
        switch (Wire.type(header)) {
            case Wire.READ_DATA -> pair.fail(pair.awaitedAnswer(), CompletionStatus.LOC_PROT_ERR);
            case Wire.SEND -> refuse(number, CompletionStatus.REM_OP_ERR, CompletionStatus.LOC_PROT_ERR);
            default -> refuse(number, CompletionStatus.REM_ACCESS_ERR, CompletionStatus.WR_FLUSH_ERR);
        }
    }

    private void violated(String what) {
        pair.violated(what);
    }

    // ---- frames

    private void expectPayload(long to, TcpLocalMemoryRegion in, long length) {
        inPayload = true;
        target = to;
        region = in;
        payloadLeft = length;
        ahead = length >= LARGE ? SHORT_AHEAD : Batch.BUFFER;
        if (length == 0) {
            finish();
        }
    }

    private void drop(long length) {
        expectPayload(0, null, length);
    }

    private void begin() {
        int type = Wire.type(header);
        int length = Wire.length(header);
        boolean flush = type == Wire.FLUSH || type == Wire.FLUSH_PERSISTENT;
        if ((Wire.reserved(header) != 0 && type != Wire.ATOMIC_WRITE)
            || !flush && (length < 0 || length > TcpDevice.MAX_MESSAGE)) {
            violated("a frame of type " + type + " and length " + Integer.toUnsignedString(length) + " that makes no sense");
            return;
        }
        if (!pair.acknowledge(Wire.acknowledged(header))) {
            return;
        }
        switch (type) {
            case Wire.SEND, Wire.WRITE, Wire.READ, Wire.ATOMIC_WRITE, Wire.FLUSH, Wire.FLUSH_PERSISTENT -> request(type, length);
            case Wire.READ_DATA, Wire.PERSISTED -> answer(type, length);
            case Wire.READY -> pair.ready();
            case Wire.ACK -> {
                if (isWanted()) {
                    transmitter.wantAcknowledgement();
                }
            }
            case Wire.NAK -> pair.refused(Wire.number(header), Wire.immediate(header));
            case Wire.NOT_READY -> pair.stalled(Wire.number(header));
            case Wire.RESUME -> pair.resumed(Wire.number(header));
            default -> violated("a frame of type " + type);
        }
    }

    private void request(int type, int length) {
        long next = transmitter.executed() + 1;
        int ahead = Wire.number(header) - (int) next;
        long payload = type == Wire.SEND || type == Wire.WRITE ? length : 0;
        if (pair.isError()) {
            // A queue pair that has failed by itself does not answer: the peer learns of it in place of a time-out.
            transmitter.refuse(next, CompletionStatus.RETRY_EXC_ERR);
            drop(payload);
            return;
        }
        if (dropping && ahead > 0) {
            drop(payload);
            return;
        }
        if (ahead != 0 || dropping && !resumed) {
            violated("request number " + Wire.number(header) + " in place of " + (int) next);
            return;
        }
        dropping = false;
        boolean immediate = (Wire.flags(header) & Wire.WITH_IMMEDIATE) != 0;
        if ((type == Wire.SEND || type == Wire.WRITE && immediate) && !pair.takeReceive(taken)) {
            dropping = true;
            resumed = false;
            transmitter.oweNotReady();
            drop(payload);
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
            case Wire.READ -> beginRead(next, length);
            case Wire.ATOMIC_WRITE -> atomicWrite(next);
            default -> flush(type, next, length & 0xffff_ffffL | (long) Wire.immediate(header) << 32);
        }
    }

    private void beginSend(long number, int length) {
        if (!Receives.isUsable(taken, peer)) {
            refuse(number, CompletionStatus.REM_OP_ERR, CompletionStatus.LOC_PROT_ERR);
            drop(length);
        } else if (length > taken.length) {
            refuse(number, CompletionStatus.REM_INV_REQ_ERR, CompletionStatus.LOC_LEN_ERR);
            drop(length);
        } else {
            expectPayload(taken.region == null ? 0 : taken.region.address() + taken.offset, taken.region, length);
        }
    }

    /** Returns the region that a request reaches, {@code null} if it may not: it has been refused then. */
    private TcpLocalMemoryRegion reach(long number, MemoryUsage usage, long length) {
        TcpLocalMemoryRegion found = peer.find(Wire.key(header));
        if (found != null && found.allows(usage.bit()) && found.contains(Wire.address(header) - found.address(), length)) {
            return found;
        }
        refuse(number, CompletionStatus.REM_ACCESS_ERR, CompletionStatus.WR_FLUSH_ERR);
        return null;
    }

    private void beginWrite(long number, int length) {
        if (length == 0) {
            expectPayload(0, null, 0);
            return;
        }
        TcpLocalMemoryRegion found = reach(number, MemoryUsage.WRITE_DST, length);
        expectPayload(found == null ? 0 : Wire.address(header), found, length);
    }

    private void beginRead(long number, int length) {
        TcpLocalMemoryRegion found = length == 0 ? null : reach(number, MemoryUsage.READ_SRC, length);
        if (length > 0 && found == null) {
            return;
        }
        if (!transmitter.answers().add(Wire.READ, number, found, Wire.address(header), length)) {
            violated("more reads than " + Wire.MAX_READS + " at a time");
            return;
        }
        transmitter.executed(number, false);
    }

    private void atomicWrite(long number) {
        TcpLocalMemoryRegion found = reach(number, MemoryUsage.WRITE_DST, Long.BYTES);
        if (found == null) {
            return;
        }
        if (!found.enter()) {
            refuse(number, CompletionStatus.REM_ACCESS_ERR, CompletionStatus.WR_FLUSH_ERR);
            return;
        }
        long to = Wire.address(header);
        long value = Memory.getLong(header + Wire.VALUE);
        if (to % Long.BYTES == 0) {
            Memory.putLongRelease(to, value);
        } else {
            Memory.copy(header + Wire.VALUE, to, Long.BYTES);
        }
        found.exit();
        transmitter.executed(number, isWanted());
    }

    private void flush(int type, long number, long length) {
        boolean persistent = type == Wire.FLUSH_PERSISTENT;
        TcpLocalMemoryRegion found =
            reach(number, persistent ? MemoryUsage.FLUSH_PERSISTENT : MemoryUsage.FLUSH_VISIBILITY, length);
        if (found == null) {
            return;
        }
        if (persistent) {
            if (!transmitter.answers().add(type, number, found, Wire.address(header), length)) {
                violated("more flushes than " + Wire.MAX_READS + " at a time");
                return;
            }
            pair.persist();
        }
        transmitter.executed(number, !persistent && isWanted());
    }

    private boolean isWanted() {
        return (Wire.flags(header) & Wire.WANTED) != 0;
    }

    private void answer(int type, int length) {
        if (pair.isError()) {
            drop(length);
            return;
        }
        long number = pair.awaitedAnswer();
        if (number == 0 || (int) number != Wire.number(header)
            || pair.sends().type(number) != (type == Wire.READ_DATA ? Wire.READ : Wire.FLUSH_PERSISTENT)
            || length != (type == Wire.READ_DATA ? pair.sends().length(number) : 0)) {
            violated("an answer that nobody waits for");
            return;
        }
        expectPayload(length == 0 ? 0 : pair.sends().source(number), pair.sends().region(number), length);
    }

    // ---- what has come in whole

    private void finish() {
        inPayload = false;
        region = null;
        int type = Wire.type(header);
        // Answers are not dropped with the requests that wait for a receive.
        if (pair.isError() || dropping && (type == Wire.SEND || type == Wire.WRITE)) {
            return;
        }
        long number = transmitter.executed() + 1;
        switch (type) {
            case Wire.SEND -> {
                receive(CompletionOpcode.RECV);
                transmitter.executed(number, isWanted());
            }
            case Wire.WRITE -> {
                if (holdsReceive) {
                    receive(CompletionOpcode.RECV_RDMA_WITH_IMM);
                }
                transmitter.executed(number, isWanted());
            }
            default -> pair.answered();
        }
    }

    private void receive(CompletionOpcode opcode) {
        holdsReceive = false;
        boolean immediate = (Wire.flags(header) & Wire.WITH_IMMEDIATE) != 0;
        pair.completeReceive(taken.context, CompletionStatus.SUCCESS, opcode.code(),
            immediate ? WorkCompletions.FLAG_WITH_IMMEDIATE : 0, Wire.length(header), Wire.immediate(header));
        taken.clear();
    }

    /** Refuses the peer's request, by which the queue pair fails; a receive that it took completes with a status of its own. */
    private void refuse(long number, CompletionStatus answer, CompletionStatus own) {
        if (holdsReceive && own != CompletionStatus.WR_FLUSH_ERR) {
            holdsReceive = false;
            pair.completeReceive(taken.context, own, 0, 0, 0, 0);
            taken.clear();
        }
        pair.refuse(number, answer);
    }

    /** Gives up the receive that a message has begun to fill: the queue pair has failed. */
    void giveUpReceive() {
        if (holdsReceive) {
            holdsReceive = false;
            target = 0;
            region = null;
            pair.abandonReceive(taken);
            taken.clear();
        }
    }

    /** Goes on with what was dropped, if there is a receive for it by now. */
    void resumeIfPossible() {
        if (dropping && !resumed && !pair.isError() && pair.hasReceive()) {
            resumed = true;
            transmitter.oweResume();
        }
    }

    /** Returns whether a request of the peer waits for a receive. */
    boolean isStarved() {
        return dropping && !resumed;
    }
}
