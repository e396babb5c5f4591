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
import io.rpma.ConnectionEvent;
import io.rpma.RpmaException;
import io.rpma.posix.EpollSet;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.software.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The queue pair of a connection. It owns its parts: {@link SendQueue} and {@link ReceiveQueue}, {@link Transmitter} and {@link
 * Receiver}, {@link Completer} and {@link PersistentFlushes}. They use it only as a {@link Drivable} or an {@link ErrorState}.
 *
 * <p>One thread at a time drives it ({@link #kick}); that thread holds the queue pair and uses its parts. One thread posts work
 * requests, and any thread may call the other methods that post, drive and end.
 */
final class QueuePair extends Drivable implements TcpCompletionQueue.Driven, TcpSharedReceiveQueue.Member, Receiver.Handler {
    /**
     * The number of {@link #PATIENT} drives without new data after which a pending acknowledgement is sent in a frame of its own.
     */
    private static final int MOST_LOOKS = 16;
    /** The number of requests that wait for such a frame at most. Other frames acknowledge them before, if there are any. */
    private static final int MOST_UNACKNOWLEDGED = 8;
    /** Bytes read in one drive, so that other connections are served as well. */
    private static final long BUDGET = 4 << 20;
    private static final long EVENTS_AT = 2 * Wire.HEADER;

    private final ProtectionDomain domain;
    private final int number;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final TcpSharedReceiveQueue shared;
    private final Completer completer;
    private TcpCompletionQueue completions;
    private TcpCompletionQueue receiveCompletions;
    // Two headers, for the two halves, and the events of the alarm.
    private final MemorySegment memory = Arena.ofAuto().allocate(EVENTS_AT + Alarm.EVENTS * EpollSet.EVENT_BYTES, 8);
    // The holder of the queue pair writes the fields from here on.
    private Owner owner;
    private Transmitter transmitter;
    private Receiver receiver;
    private PersistentFlushes flushes;
    private final UnreadEnd unread = new UnreadEnd(this);
    private int socket = -1;
    private int version = Greeting.OLDEST;
    private boolean awaitsReady;
    private int looks;
    private final RoomWatch room = new RoomWatch();
    // Whether the last drive that read the socket has left no data. The polling thread may find an old value.
    private boolean drained;
    private volatile boolean error;
    private final Starvation starvation;
    private final AdapterPlace place = new AdapterPlace(this);
    private SocketWatch watch;
    private boolean isListed; // used by the thread that polls the shared receive queue
    private final SavedReads saved; // used by the thread that polls the connection's own completion queues

    /** The receiver of the events of the connection. */
    interface Owner {
        /** The client has confirmed the connection. */
        void established();

        /** The other side has ended the connection, or the connection has broken. */
        void ended(ConnectionEvent event);

        /** Returns a description of the other side, for log messages. */
        String remote();
    }

    /**
     * Creates a queue pair that is not connected.
     *
     * @param ownReceives its own receives, {@code null} if it has a shared receive queue
     */
    QueuePair(ProtectionDomain domain, int number, SendQueue sends, Receives ownReceives, TcpSharedReceiveQueue shared) {
        this.domain = domain;
        this.number = number;
        this.sends = sends;
        this.shared = shared;
        receives = new ReceiveQueue(this, number, ownReceives, shared);
        starvation = new Starvation(this, shared);
        saved = new SavedReads(shared);
        completer = new Completer(this, number, sends);
    }

    /** Sets the completion queues. */
    void complete(TcpCompletionQueue ofSends, TcpCompletionQueue ofReceives) {
        completions = ofSends;
        receiveCompletions = ofReceives;
        completer.complete(ofSends);
        receives.completeIn(ofReceives);
    }

    int number() {
        return number;
    }

    /** Sets the version of the protocol, before the queue pair is started. */
    void speak(int chosen) {
        version = chosen;
    }

    /** Returns whether the peer reads no further while it has no receive for a request that is not sent again. */
    boolean canSendOnce() {
        return version > Greeting.OLDEST;
    }

    SendQueue sends() {
        return sends;
    }

    /**
     * Starts on a connected socket, and takes ownership of it.
     *
     * @param isServer whether this is the server's side, which waits for the client's confirmation
     */
    void start(int connected, Owner connection, boolean isServer) {
        socket = connected;
        owner = connection;
        awaitsReady = isServer;
        kick(START | SEND);
    }

    /** Does so as the holder: others drive this queue pair as soon as the shared receive queue knows it. */
    private void begin() {
        transmitter = new Transmitter(this, sends, socket, memory.address() + Wire.HEADER);
        completer.start(transmitter);
        flushes = new PersistentFlushes(this, transmitter);
        receiver = new Receiver(this, sends, receives, completer, transmitter, domain, socket, memory.address());
        if (!awaitsReady) {
            transmitter.oweReady();
        }
        watch = new SocketWatch(this, socket, completions, receiveCompletions, shared);
        Adapter.instance().add(place);
    }

    /** Returns whether this queue pair closes the socket that it was started on. */
    boolean ownsSocket() {
        return socket >= 0;
    }

    // ---- driving

    /** Looks for completions on behalf of the thread that polls the connection's own completion queues. */
    @Override
    public void drive() {
        drives = drives + 1;
        int waits = completions.isPatient() ? 0 : WAITS;
        if (watch == null || !watch.isOfMember()) {
            kick(waits | (mayHaveData(completions.alarm()) ? RECEIVE : LOOK));
        } else {
            kick(waits | PATIENT | (!saved.hasJustRead() && mayHaveData(shared.completions().alarm()) ? RECEIVE : LOOK));
        }
    }

    @Override
    public boolean wakesForSocket() {
        return watch == null || watch.isOfCompletions();
    }

    /** Returns whether the socket may be readable, or another socket that the same alarm watches. */
    private boolean mayHaveData(Alarm alarm) {
        return !drained || alarm.mayHaveData(memory.address() + EVENTS_AT);
    }

    @Override
    public void driveAsMember(boolean isPatient) {
        drives = drives + 1;
        kick(isPatient ? RECEIVE | MEMBER | PATIENT : RECEIVE | MEMBER);
    }

    @Override
    public boolean owesAcknowledgement() {
        // If the socket takes no more, the adapter sends the acknowledgement when it does.
        return transmitter != null && !stopped && !blocked && transmitter.owesAcknowledgement();
    }

    @Override
    public void acknowledge(boolean isPatient) {
        kick(isPatient ? LOOK | PATIENT : ACKNOWLEDGE);
    }

    @Override
    public boolean isListed() {
        return isListed;
    }

    @Override
    public void setListed(boolean isOnList) {
        isListed = isOnList;
    }

    @Override
    void run(int todo) {
        if (stopped) {
            return;
        }
        boolean done = false;
        try {
            if ((todo & START) != 0) {
                begin();
            }
            if (transmitter != null) {
                carry(todo);
            } else if ((todo & DISCONNECT) != 0) {
                fail(0, CompletionStatus.WR_FLUSH_ERR);
            }
            if (error) {
                flush();
            }
            done = true;
        } finally {
            finish(todo, done);
        }
    }

    /**
     * Ends the connection if the work has thrown an exception, because the halves may have lost their place in the streams; and
     * closes the socket if that is requested, in any case.
     */
    private void finish(int todo, boolean done) {
        try {
            if (!done && transmitter != null) {
                breakOff();
            }
        } finally {
            if ((todo & CLOSE) != 0) {
                stop();
            }
        }
    }

    private void carry(int todo) {
        // An acknowledgement that was pending before this drive: since then the owner has had the chance to send a frame that
        // would have carried it, so it may go in a frame of its own.
        boolean acknowledging = (todo & (ACKNOWLEDGE | DISCONNECT | CLOSE)) != 0;
        if (!transmitter.owesAcknowledgement()) {
            looks = 0;
        } else if ((todo & (RECEIVE | LOOK)) != 0) {
            acknowledging |= (todo & PATIENT) == 0 || ++looks >= MOST_LOOKS
                || transmitter.unacknowledged() >= MOST_UNACKNOWLEDGED;
        }
        boolean more = false;
        boolean wasPaused = receiver.isPaused();
        boolean slow = (todo & CHECK) != 0 && receiver.isTooSlow(shared.messageNanos());
        if (((todo & RECEIVE) != 0 || wasPaused || slow) && !receiver.hasEnded()) {
            drained = receiver.receive(BUDGET);
            more = !drained;
        }
        if (slow && receiver.isTooSlow(shared.messageNanos())) {
            violated("too little of a message that holds a receive which other connections wait for");
        }
        starvation.resumeIfPossible(receiver);
        flushes.takeResult();
        if ((todo & DISCONNECT) != 0) {
            enterError(0, CompletionStatus.WR_FLUSH_ERR);
        }
        more |= transmitter.transmit(acknowledging);
        boolean wasError = error;
        completer.transmitted();
        completer.checkNext();
        if (error && !wasError) {
            // Nothing else may drive the queue pair until the peer sends something, which may wait for the refusal.
            more |= transmitter.transmit(acknowledging);
        }
        if ((todo & DISCONNECT) != 0) {
            transmitter.end();
        }
        flushes.next();
        boolean newlyBlocked = !blocked && transmitter.isBlocked();
        blocked = transmitter.isBlocked();
        if (unread.isOverdue((todo & HUNG_UP) != 0, receiver.isPaused(), transmitter.executed())) {
            receiver.giveUpPause();
        }
        boolean paused = receiver.isPaused();
        more |= paused && receiver.canContinue();
        if (paused != wasPaused && !receiver.hasEnded()) {
            watch.set(!paused);
        }
        boolean needsRoom = blocked && room.isNeeded(newlyBlocked, completions, mayWait(todo, newlyBlocked));
        if (needsRoom || (todo & ARM) != 0 && !receiver.hasEnded() || paused && !wasPaused) {
            arm(paused);
        }
        if (more) {
            hurried = true;
            Adapter.instance().look(place);
        } else if (!(newlyBlocked && needsRoom)
                && (wasPaused && !paused || (newlyBlocked || transmitter.owesAcknowledgement()) && !place.isListed())) {
            // After a pause, there may be data that nobody watched for. If the owner does not find room, the adapter has to.
            Adapter.instance().look(place);
        }
    }

    /** Has the adapter watch the socket. Without an event to wait for, it does not: the end would wake it again and again. */
    private void arm(boolean paused) {
        int events = (paused ? unread.watch() : EpollSet.IN) | (blocked ? EpollSet.OUT : 0);
        if (events != 0) {
            Adapter.instance().arm(place, socket, events);
        }
    }

    @Override
    public void checkMessage() {
        kick(CHECK);
    }

    @Override
    public boolean wake() {
        boolean was = starvation.isStarved();
        kick(SEND);
        return was;
    }

    // ---- for the posting thread

    /** Posts a receive. */
    void receive(TcpLocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        receives.post(target, offset, length, context);
        if (error || starvation.isStarved()) {
            kick(SEND);
        }
    }

    /** Enters the error state: all work requests and receives are flushed, also those posted later. */
    void fail() {
        kick(DISCONNECT);
    }

    /** Processes the data that has arrived, flushes all other requests, and ends the sending direction. */
    void disconnect() {
        kick(RECEIVE | DISCONNECT);
    }

    /**
     * Does the same as {@link #disconnect}, and waits for a thread that holds the queue pair. No message completes after
     * this.
     */
    void disconnectNow() {
        kick(RECEIVE | DISCONNECT);
        // The other thread finishes its current work, which does not block, and then does this.
        Patience patience = new Patience();
        while (!error && !stopped) {
            patience.pause();
        }
    }

    /** Closes the queue pair and its socket. */
    void close() {
        kick(CLOSE);
        // Another thread may hold the queue pair. It finishes its current work, which does not block, and then closes.
        Patience patience = new Patience();
        while (!stopped) {
            patience.pause();
        }
    }

    private void stop() {
        try {
            if (transmitter != null) {
                leave();
                unread.forget();
                receiver.giveUp();
            }
        } finally {
            if (transmitter != null) {
                Adapter.instance().remove(place);
                Posix.close(socket);
            }
            stopped = true;
        }
    }

    /** Stops watching the socket: after the end of the stream it would stay readable. No receive is needed any more. */
    private void leave() {
        starvation.end();
        if (shared != null) {
            // The rest of a message will not arrive, and others may wait for its receive.
            receiver.giveUp();
        }
        watch.end();
    }

    // ---- failing

    @Override
    public boolean isError() {
        return error;
    }

    @Override
    public void fail(long culprit, CompletionStatus status) {
        if (transmitter != null && !error) {
            receiver.refuseStalled();
        }
        enterError(culprit, status);
    }

    private void enterError(long culprit, CompletionStatus status) {
        if (error) {
            return;
        }
        error = true;
        if (transmitter != null) {
            transmitter.fail();
        }
        completer.fail(culprit, status);
        if (transmitter != null) {
            receiver.giveUp();
            starvation.end();
        }
        flush();
    }

    private void flush() {
        completer.flush();
        receives.flush();
    }

    @Override
    public void refuse(long request, CompletionStatus answer) {
        transmitter.refuse(request, answer);
        fail(0, CompletionStatus.WR_FLUSH_ERR);
    }

    @Override
    public void violated(String what) {
        TcpLog.violation("Receiver", "the peer at " + owner.remote() + " sent " + what + " on queue pair " + number
            + ": the connection ends");
        breakOff();
    }

    @Override
    public void breakOff() {
        transmitter.end();
        Sockets.shutdown(socket);
        peerEnded(ConnectionEvent.LOST);
    }

    @Override
    public void peerEnded(ConnectionEvent event) {
        if (receiver.hasEnded()) {
            return;
        }
        receiver.end();
        leave();
        try {
            if (event != ConnectionEvent.CLOSED) {
                fail(0, CompletionStatus.WR_FLUSH_ERR);
            }
        } finally {
            owner.ended(event);
        }
    }

    // ---- reports of the receiving half

    @Override
    public void received() {
        looks = 0;
        work = work + 1;
    }

    @Override
    public void ready() {
        if (!awaitsReady) {
            violated("a confirmation that was not expected");
            return;
        }
        awaitsReady = false;
        owner.established();
    }
}
