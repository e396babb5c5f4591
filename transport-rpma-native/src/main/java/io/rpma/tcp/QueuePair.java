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
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The queue pair of a connection. Whoever has something to do with it, or is asked to look for work, <i>drives</i> it: the thread
 * that posts and polls, the thread that posts to its shared receive queue, or the adapter's. One at a time does; a thread that
 * finds another one at it leaves its reason behind, and the other one goes on for it. So nobody waits.
 */
final class QueuePair implements TcpCompletionQueue.Driven {
    /** There is something to be sent. */
    static final int SEND = 2;
    /** Something may have come. */
    static final int RECEIVE = 4;
    /** What is acknowledged goes alone if need be. */
    static final int ACKNOWLEDGE = 8;
    private static final int HELD = 1;
    private static final int DISCONNECT = 16;
    private static final int CLOSE = 32;
    /** The socket wakes the adapter again. */
    static final int ARM = 64;
    /** Whoever looks does not see what is received, and so has not had the time to answer it. */
    private static final int PATIENT = 128;
    /** So many looks of that kind are as good as one of the other. */
    private static final int MOST_LOOKS = 8;
    /** Bytes that are read before others get their turn. */
    private static final long BUDGET = 4 << 20;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(QueuePair.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final TcpPeer peer;
    private final int number;
    private final SendQueue sends;
    private final Receives receives;
    private final TcpSharedReceiveQueue shared;
    private TcpCompletionQueue completions;
    private TcpCompletionQueue receiveCompletions;
    private final MemorySegment memory = Arena.ofAuto().allocate(2 * Wire.HEADER, 8);
    private int state;
    // From here on written by whoever holds the queue pair.
    private Owner owner;
    private Transmitter transmitter;
    private Receiver receiver;
    private int socket = -1;
    private boolean awaitsReady;
    private long completed;
    private boolean asked;
    private boolean persisting;
    private int looks;
    private volatile boolean error;
    private volatile boolean starved;
    private volatile boolean waiting;
    private volatile boolean stopped;
    // For the adapter.
    private volatile boolean blocked;
    private volatile boolean hurried;
    private volatile long work;
    private volatile long drives;
    private final Receives.Taken flushed = new Receives.Taken();
    private final Adapter.Place place = new Adapter.Place(this);
    // The place in the shared receive queue.
    private int member = -1;

    /** What is told of the connection. */
    interface Owner {
        /** The client is there. */
        void established();

        /** The other side is gone. */
        void ended(ConnectionEvent event);

        /** Returns who the other side is, for people. */
        String remote();
    }

    /**
     * Creates a queue pair that is not connected.
     *
     * @param receives its receive queue, {@code null} if it has a shared one
     */
    QueuePair(TcpPeer peer, int number, SendQueue sends, Receives receives, TcpSharedReceiveQueue shared) {
        this.peer = peer;
        this.number = number;
        this.sends = sends;
        this.receives = receives;
        this.shared = shared;
    }

    /** Says where completions go. */
    void complete(TcpCompletionQueue ofSends, TcpCompletionQueue ofReceives) {
        completions = ofSends;
        receiveCompletions = ofReceives;
    }

    int number() {
        return number;
    }

    SendQueue sends() {
        return sends;
    }

    /**
     * Starts on a connected socket, which is taken over.
     *
     * @param isServer whether the client is still to say that it is there
     */
    void start(int connected, Owner connection, boolean isServer) {
        socket = connected;
        owner = connection;
        awaitsReady = isServer;
        transmitter = new Transmitter(this, sends, socket, memory.address() + Wire.HEADER);
        receiver = new Receiver(this, transmitter, peer, socket, memory.address());
        if (!isServer) {
            transmitter.oweReady();
        }
        if (shared != null && shared.hasCompletions()) {
            // Whoever waits for what is received is woken by the socket, and tells whoever waits for what was sent.
            member = shared.join(this, socket);
        } else {
            completions.alarm().watch(socket);
            if (receiveCompletions.alarm() != completions.alarm()) {
                receiveCompletions.alarm().watch(socket);
            }
        }
        Adapter.instance().add(place, socket);
        kick(SEND);
    }

    // ---- driving

    /** Sees to it that something is done: by this thread, unless another one is at it. */
    void kick(int reasons) {
        if (((int) STATE.getAndBitwiseOr(this, reasons | HELD) & HELD) != 0) {
            return;
        }
        while (true) {
            int todo = (int) STATE.getAndSet(this, HELD) & ~HELD;
            if (todo != 0) {
                run(todo);
            } else if (STATE.compareAndSet(this, HELD, 0)) {
                return;
            }
        }
    }

    /** Looks for completions of what was sent, for the thread that polls, and of what was received unless they go elsewhere. */
    @Override
    public void drive() {
        drives = drives + 1;
        kick(member < 0 ? RECEIVE : RECEIVE | PATIENT);
    }

    /** Looks for completions, for the thread that polls those of the shared receive queue. */
    void driveAsMember() {
        drives = drives + 1;
        kick(RECEIVE);
    }

    private void run(int todo) {
        if (stopped) {
            return;
        }
        if (transmitter != null) {
            carry(todo);
        } else if ((todo & DISCONNECT) != 0) {
            fail(0, CompletionStatus.WR_FLUSH_ERR);
        }
        if (error) {
            flush();
        }
        if ((todo & CLOSE) != 0) {
            stop();
        }
    }

    private void carry(int todo) {
        // What was owed before: since then its owner has had the time to say something that could have carried it.
        boolean acknowledging = (todo & (ACKNOWLEDGE | DISCONNECT | CLOSE)) != 0;
        if (!transmitter.owesAcknowledgement()) {
            looks = 0;
        } else if ((todo & RECEIVE) != 0) {
            acknowledging |= (todo & PATIENT) == 0 || ++looks >= MOST_LOOKS;
        }
        boolean more = false;
        if ((todo & RECEIVE) != 0 && !receiver.hasEnded()) {
            more = !receiver.receive(BUDGET);
        }
        resumeIfPossible();
        if ((todo & DISCONNECT) != 0) {
            fail(0, CompletionStatus.WR_FLUSH_ERR);
        }
        more |= transmitter.transmit(acknowledging);
        checkNext();
        if ((todo & DISCONNECT) != 0) {
            transmitter.end();
        }
        persistNext();
        boolean wasBlocked = blocked;
        blocked = transmitter.isBlocked();
        if ((todo & ARM) != 0 && !receiver.hasEnded()) {
            Adapter.instance().arm(place, socket, blocked);
        }
        if (more) {
            hurried = true;
            Adapter.instance().look(place);
        } else if (blocked && !wasBlocked) {
            Adapter.instance().arm(place, socket, true);
        } else if (transmitter.owesAcknowledgement() && !place.isListed()) {
            Adapter.instance().look(place);
        }
    }

    /** Lets the peer go on if there is a receive for what it sent; is woken otherwise when there is. */
    private void resumeIfPossible() {
        receiver.resumeIfPossible();
        if (receiver.isStarved()) {
            starved = true;
            if (shared != null && !waiting) {
                waiting = true;
                shared.starve(this);
            }
            // Once more: one may have been posted before anybody could know.
            receiver.resumeIfPossible();
        }
        starved = receiver.isStarved();
    }

    /** There may be a receive in the shared queue. Returns whether one was waited for. */
    boolean wake() {
        boolean was = starved;
        waiting = false;
        kick(SEND);
        return was;
    }

    /** A work request that cannot be executed fails when those before it are done. */
    private void checkNext() {
        long next = transmitter.sent() + 1;
        if (error || next > sends.posted() || !sends.isBad(next)) {
            return;
        }
        if (completed == next - 1) {
            fail(next, CompletionStatus.LOC_PROT_ERR);
        } else if (!asked) {
            asked = true;
            transmitter.ask();
            transmitter.transmit(false);
        }
    }

    private void persistNext() {
        Answers answers = transmitter.answers();
        if (!persisting && !answers.isEmpty() && answers.type(0) == Wire.FLUSH_PERSISTENT
            && answers.persisted() == Answers.PENDING) {
            persisting = true;
            Adapter.instance().persist(this, answers.address(0), answers.length(0));
        }
    }

    /** There is something to be made persistent. */
    void persist() {
        persisting = false;
    }

    /** The adapter has made persistent what was asked for. */
    void persisted(int result) {
        transmitter.answers().persisted(result);
        persisting = false;
        kick(SEND);
    }

    // ---- for the posting thread

    /** Posts a receive that has been checked. */
    void receive(TcpLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        Receives.check(target, offset, length);
        if (receives == null) {
            throw Receives.shared();
        }
        receives.post(target, offset, length, context);
        if (error || starved) {
            kick(SEND);
        }
    }

    /** Flushes everything; what is posted from now on too. */
    void fail() {
        kick(DISCONNECT);
    }

    /** Takes note of what has come, flushes the rest, and ends what this side sends. */
    void disconnect() {
        kick(RECEIVE | DISCONNECT);
    }

    /** Ends everything and closes the socket. */
    void close() {
        kick(CLOSE);
        // Another thread may be at it: it does what can be done without waiting, and then this.
        Patience patience = new Patience();
        while (!stopped) {
            patience.pause();
        }
    }

    private void stop() {
        if (transmitter != null) {
            receiver.giveUpReceive();
            starved = false;
            leave();
            Adapter.instance().remove(place);
            Posix.close(socket);
        }
        stopped = true;
    }

    /** Watches the socket no longer: at its end it is readable for ever. */
    private void leave() {
        completions.alarm().unwatch();
        if (member >= 0) {
            shared.leave(member, socket);
            member = -1;
        } else if (!(shared != null && shared.hasCompletions())) {
            receiveCompletions.alarm().unwatch();
        }
    }

    // ---- failing

    boolean isError() {
        return error;
    }

    /**
     * Fails.
     *
     * @param culprit the work request that completes with the status; all others that are not done are flushed
     */
    void fail(long culprit, CompletionStatus status) {
        if (error) {
            return;
        }
        error = true;
        if (culprit > completed) {
            while (completed < culprit) {
                end(completed + 1, completed + 1 == culprit ? status : CompletionStatus.WR_FLUSH_ERR);
            }
        }
        if (transmitter != null) {
            transmitter.forgetAnswers();
            receiver.giveUpReceive();
        }
        flush();
    }

    private void end(long request, CompletionStatus status) {
        completed = request;
        completions.add(sends.context(request), status.code(), 0, 0, 0, 0, number, request);
        sends.done(request);
    }

    private void flush() {
        long last = sends.posted();
        while (completed < last) {
            end(completed + 1, CompletionStatus.WR_FLUSH_ERR);
        }
        while (receives != null && receives.take(flushed)) {
            completeReceive(flushed.context, CompletionStatus.WR_FLUSH_ERR, 0, 0, 0, 0);
        }
    }

    /** Refuses a request of the peer. */
    void refuse(long request, CompletionStatus answer) {
        transmitter.refuse(request, answer);
        fail(0, CompletionStatus.WR_FLUSH_ERR);
    }

    /** The peer has done what is against the protocol. */
    void violated(String what) {
        TcpLog.violation("Receiver", "the peer at " + owner.remote() + " sent " + what + " on queue pair " + number
            + ": the connection ends");
        breakOff();
    }

    /** Ends the connection at once. */
    void breakOff() {
        transmitter.end();
        Sockets.shutdown(socket);
        peerEnded(ConnectionEvent.LOST);
    }

    /** Nothing more comes from the peer. */
    void peerEnded(ConnectionEvent event) {
        if (receiver.hasEnded()) {
            return;
        }
        receiver.end();
        leave();
        if (event != ConnectionEvent.CLOSED) {
            fail(0, CompletionStatus.WR_FLUSH_ERR);
        }
        owner.ended(event);
    }

    // ---- what the peer says

    /** The client is there. */
    void ready() {
        if (!awaitsReady) {
            violated("an agreement that was not asked for");
            return;
        }
        awaitsReady = false;
        owner.established();
    }

    private long widen(int request) {
        return completed + (request - (int) completed);
    }

    /** The peer has executed all requests up to a number. Returns whether that can be. */
    boolean acknowledge(int last) {
        long upTo = widen(last);
        if (error || upTo <= completed) {
            return true;
        }
        if (upTo > transmitter.sent()) {
            violated("the acknowledgement of a request that has not been sent");
            return false;
        }
        while (completed < upTo) {
            if (sends.isAnswered(completed + 1)) {
                violated("the acknowledgement of a read in place of its answer");
                return false;
            }
            succeed();
            if (error) {
                return true;
            }
        }
        asked = false;
        return true;
    }

    /** The next request has been executed. */
    private void succeed() {
        long request = ++completed;
        if (sends.isSignalled(request)) {
            CompletionOpcode opcode = switch (sends.type(request)) {
                case Wire.SEND -> CompletionOpcode.SEND;
                case Wire.WRITE, Wire.ATOMIC_WRITE -> CompletionOpcode.RDMA_WRITE;
                default -> CompletionOpcode.RDMA_READ;
            };
            if (!completions.add(sends.context(request), 0, opcode.code(), 0, sends.length(request) & 0xffff_ffffL, 0, number,
                request)) {
                fail(0, CompletionStatus.WR_FLUSH_ERR);
            }
        }
        sends.done(request);
    }

    /** Returns the request that the next answer belongs to, 0 if there is none. */
    long awaitedAnswer() {
        for (long request = completed + 1; request <= transmitter.sent(); request++) {
            if (sends.isAnswered(request)) {
                return request;
            }
        }
        return 0;
    }

    /** An answer is there, and with it everything before it has been executed. */
    void answered() {
        long request = awaitedAnswer();
        while (completed < request && !error) {
            succeed();
        }
        transmitter.answered();
    }

    /** The peer has refused a request. */
    void refused(int request, int status) {
        long culprit = widen(request);
        if (error) {
            return;
        }
        CompletionStatus why = CompletionStatus.of(status);
        if (culprit <= completed || culprit > transmitter.sent() || why == CompletionStatus.SUCCESS || why.code() != status) {
            violated("the refusal of a request that has not been sent");
            return;
        }
        fail(culprit, why);
    }

    /** The peer has no receive for a request. */
    void stalled(int request) {
        long stalledAt = widen(request);
        if (error) {
            return;
        }
        if (stalledAt <= completed || stalledAt > transmitter.sent() || !takesReceive(stalledAt)) {
            violated("that it has no receive for a request that needs none");
            return;
        }
        transmitter.stall(stalledAt);
    }

    private boolean takesReceive(long request) {
        return sends.type(request) == Wire.SEND
            || sends.type(request) == Wire.WRITE && (sends.flags(request) & Wire.WITH_IMMEDIATE) != 0;
    }

    /** The peer has a receive for a request that it had none for. */
    void resumed(int request) {
        if (!error && !transmitter.resume(widen(request))) {
            violated("that it has a receive which nobody waited for");
        }
    }

    // ---- receives

    boolean takeReceive(Receives.Taken taken) {
        return (shared != null ? shared.receives() : receives).take(taken);
    }

    boolean hasReceive() {
        return !(shared != null ? shared.receives() : receives).isEmpty();
    }

    void completeReceive(long context, CompletionStatus status, int opcode, int flags, long length, int immediate) {
        if (!receiveCompletions.add(context, status.code(), opcode, flags, length, immediate, number, 0)) {
            fail(0, CompletionStatus.WR_FLUSH_ERR);
        }
    }

    /** A receive was taken and not used. */
    void abandonReceive(Receives.Taken taken) {
        if (shared != null && !shared.hasCompletions() && shared.receives().giveBack(taken)) {
            return;
        }
        completeReceive(taken.context, CompletionStatus.WR_FLUSH_ERR, 0, 0, 0, 0);
    }

    // ---- for the adapter

    /** Something has come; seen by the adapter, which wants to know whether there was anything to do. */
    void received() {
        work = work + 1;
    }

    long work() {
        return work;
    }

    /** Returns how often the owner has looked. */
    long drives() {
        return drives;
    }

    boolean isStopped() {
        return stopped;
    }

    boolean isBlocked() {
        return blocked;
    }

    /** Returns whether there was too much to do for one turn. */
    boolean isHurried() {
        return hurried;
    }

    /** Returns whether there was too much to do for one turn, and forgets it. */
    boolean takeHurry() {
        boolean was = hurried;
        hurried = false;
        return was;
    }

    /** Returns whether the peer waits for an acknowledgement. For the thread that polls; a guess if another one drives. */
    boolean owesAcknowledgement() {
        return transmitter != null && transmitter.owesAcknowledgement();
    }
}
