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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.ConnectionEvent;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.Posix;
import io.rpma.posix.TcpSockets;
import io.rpma.software.ForeignText;
import io.rpma.software.SoftwareConnection;
import io.rpma.software.WorkArguments;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A connection: the queue pair, and the events, which the thread that drives the queue pair reports. */
final class TcpConnection extends SoftwareConnection implements QueuePair.Owner, Adapter.Expiring {
    private static final WorkArguments ARGUMENTS = new WorkArguments(TcpLog.INSTANCE, Limits.MAX_MESSAGE);
    private static final int ENOTCONN = 107;

    private final ProtectionDomain domain;
    private final Queues queues;
    private final QueuePair pair;
    private final int socket;
    private final Alarm events;
    // Null at the server's side.
    private final Handshake handshake;
    private boolean started;
    private RpmaException failure;
    // Events that have not been taken; guarded by the lock of the alarm.
    private boolean isEstablished;
    private ConnectionEvent end;
    private boolean wasEstablished;
    private boolean ended;
    // Whether a thread is taking an event, and raises the alarm afterwards if there are more; guarded in the same way.
    private boolean taking;
    // Whether the time for the greeting has passed since the last call of nextEvent began; guarded in the same way.
    private boolean overdue;
    // Used by the thread that posts work requests.
    private boolean early;
    private volatile boolean quiescent;

    private TcpConnection(ProtectionDomain domain, Queues queues, int socket, Alarm events, Handshake handshake,
            ByteBuffer privateData, InetSocketAddress localAddress, InetSocketAddress remoteAddress) {
        super(TcpLog.INSTANCE, privateData, localAddress, remoteAddress);
        this.domain = domain;
        this.queues = queues;
        pair = queues.pair();
        this.socket = socket;
        this.events = events;
        this.handshake = handshake;
    }

    /** Creates the connection of a client that sends its request, now or when the listener has greeted. */
    static TcpConnection requesting(ProtectionDomain domain, Queues queues, Handshake handshake) {
        int socket = handshake.dialer().socket();
        TcpConnection connection = new TcpConnection(domain, queues, socket, new Alarm(), handshake, null,
            TcpSockets.localAddress(socket), handshake.dialer().remote());
        connection.shakeHands();
        if (connection.end == null) {
            // This only notes the socket, because the descriptor has not been requested yet.
            connection.events.watch(socket);
            if (!handshake.isRequested()) {
                Adapter.instance().add(connection);
            }
        }
        return connection;
    }

    /** Creates the connection of a server that is about to accept, and to call {@link #start}. */
    static TcpConnection accepting(ProtectionDomain domain, Queues queues, int socket, ByteBuffer privateData,
            InetSocketAddress local, InetSocketAddress remote) {
        return new TcpConnection(domain, queues, socket, new Alarm(), null, privateData, local, remote);
    }

    /** Creates a connection that has been rejected, because there is no listener. */
    static TcpConnection rejected(ProtectionDomain domain, Queues queues, InetSocketAddress remote) {
        TcpConnection connection = new TcpConnection(domain, queues, -1, new Alarm(), null, null, null, remote);
        connection.ended(ConnectionEvent.REJECTED);
        return connection;
    }

    /** Starts the queue pair when the connection has been accepted. */
    void start() {
        started = true;
        pair.start(socket, this, handshake == null);
    }

    // ---- events

    @Override
    public void established() {
        synchronized (events) {
            isEstablished = true;
            if (!taking) {
                events.raise();
            }
        }
    }

    @Override
    public void ended(ConnectionEvent event) {
        synchronized (events) {
            if (end == null && !ended) {
                end = event;
                if (!taking) {
                    events.raise();
                }
            }
        }
    }

    @Override
    public boolean expire(long now) {
        if (!handshake.dialer().expire(now)) {
            return false;
        }
        synchronized (events) {
            overdue = true;
            events.raise();
        }
        return true;
    }

    @Override
    public RpmaException failure() {
        return failure;
    }

    @Override
    public String remote() {
        return String.valueOf(remoteAddress());
    }

    @Override
    public int eventFd() {
        return events.fd();
    }

    /** Returns the socket until the listener has answered: nobody else watches it. Afterwards the task is told of all events. */
    @Override
    public int eventFd(Runnable task) {
        events.run(task);
        return started || handshake == null || isAnswered() ? NO_DESCRIPTOR : socket;
    }

    private boolean isAnswered() {
        synchronized (events) {
            return end != null || ended;
        }
    }

    @Override
    public ConnectionEvent nextEvent() throws RpmaException {
        checkOpen();
        synchronized (events) {
            taking = true;
            overdue = false;
        }
        ConnectionEvent event = null;
        boolean done = false;
        try {
            if (started) {
                pair.drive();
            } else if (end == null && !ended) {
                continueHandshake();
            }
            done = true;
        } finally {
            synchronized (events) {
                taking = false;
                event = done ? take() : null;
                if (isEstablished || end != null || overdue) {
                    events.raise();
                } else {
                    events.clear();
                }
            }
        }
        return event;
    }

    private ConnectionEvent take() {
        if (isEstablished) {
            isEstablished = false;
            wasEstablished = true;
            return ConnectionEvent.ESTABLISHED;
        }
        if (end == null) {
            return null;
        }
        ConnectionEvent event = end == ConnectionEvent.CLOSED && !wasEstablished ? ConnectionEvent.REJECTED : end;
        end = null;
        ended = true;
        if (event != ConnectionEvent.CLOSED) {
            // The connection was not established or has broken: flush its receives. After CLOSED, disconnect() does that.
            pair.fail();
        }
        return event;
    }

    private void continueHandshake() {
        boolean wasRequested = handshake.isRequested();
        shakeHands();
        if (!wasRequested && (handshake.isRequested() || end != null)) {
            Adapter.instance().remove(this);
        }
    }

    private void shakeHands() {
        int result;
        try {
            result = handshake.proceed();
        } catch (RpmaException e) {
            failure = e;
            events.unwatch();
            ended(e.errno() == Posix.EPROTONOSUPPORT ? ConnectionEvent.REJECTED : ConnectionEvent.UNREACHABLE);
            return;
        }
        if (result == Handshake.NOTHING) {
            return;
        }
        events.unwatch();
        switch (result) {
            case Handshake.ACCEPTED -> {
                acceptedWith(handshake.payload());
                pair.speak(handshake.dialer().version());
                start();
                established();
            }
            case Handshake.REJECTED -> {
                String words = ForeignText.of(handshake.payload());
                ended(ConnectionEvent.REJECTED);
                TcpLog.log(RpmaLog.Level.WARNING, "rejected by " + remoteAddress()
                    + (words.isEmpty() ? ", which has closed the connection" : ": " + words));
            }
            case Handshake.UNREACHABLE -> ended(ConnectionEvent.UNREACHABLE);
            default -> {
                ended(ConnectionEvent.REJECTED);
                TcpLog.violation("Handshake", "the listener at " + remoteAddress() + " sent an invalid answer");
            }
        }
    }

    @Override
    public void disconnect() throws RpmaException {
        checkOpen();
        if (wasEstablished) {
            pair.disconnect();
        }
    }

    /**
     * Waits for a thread that is receiving. If it received a message after the caller has polled for the last time, the receive
     * would be lost for the other connections of its shared receive queue.
     */
    @Override
    public void disconnectBeforeClose() throws RpmaException {
        checkOpen();
        if (started) {
            pair.disconnectNow();
        }
    }

    @Override
    public void close() {
        if (!markClosed()) {
            return;
        }
        if (handshake != null && !handshake.isRequested()) {
            Adapter.instance().remove(this);
        }
        // No lock protects the socket while the connection is not established.
        events.closing();
        events.close();
        try {
            queues.close();
        } finally {
            quiescent = true;
            if (!started && socket >= 0) {
                Posix.close(socket);
            }
            domain.release();
        }
    }

    /** Returns whether the connection is closed, and the thread that has driven it has ended its work. */
    @Override
    public boolean isQuiescent() {
        return quiescent;
    }

    // ---- properties

    @Override
    public int queuePairNumber() {
        return pair.number();
    }

    // ---- completions

    @Override
    public CompletionQueue completionQueue() {
        return queues.completions();
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return queues.receiveCompletions();
    }

    @Override
    public int completionFd() throws RpmaException {
        checkShared(queues.isChannelShared());
        return queues.completions().madeFd();
    }

    @Override
    public CompletionQueue consumeCompletionEvent() throws RpmaException {
        checkShared(queues.isChannelShared());
        TcpCompletionQueue main = queues.completions();
        TcpCompletionQueue receives = queues.receiveCompletions();
        main.keepPromise();
        if (receives != null) {
            receives.keepPromise();
        }
        if (!main.hasFired() && (receives == null || !receives.hasFired())) {
            pair.drive();
        }
        if (isEventOfReceivesNext(main.hasFired(), receives != null && receives.hasFired())) {
            receives.consume(main);
            return receives;
        }
        return main.consume(receives) ? main : null;
    }

    // ---- work requests

    @Override
    public void completeSendsEarly(boolean isOn) {
        early = isOn;
    }

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        checkOpen();
        pair.receive(TcpLocalMemoryRegion.of(target), offset, length, context);
    }

    @Override
    public void send(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, long context)
            throws RpmaException {
        ARGUMENTS.checkMessage("send", source, offset, length, flag);
        post(Wire.SEND, false, source, MemoryUsage.SEND, offset, length, flag, 0, 0, 0, 0, context);
    }

    @Override
    public void sendWithImmediate(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, int immediate,
            long context) throws RpmaException {
        ARGUMENTS.checkMessage("sendWithImmediate", source, offset, length, flag);
        post(Wire.SEND, true, source, MemoryUsage.SEND, offset, length, flag, immediate, 0, 0, 0, context);
    }

    @Override
    public void read(LocalMemoryRegion target, long targetOffset, RemoteMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        ARGUMENTS.checkAccess("read", target, targetOffset, source, sourceOffset, length, flag);
        TcpRemoteMemoryRegion remote = TcpRemoteMemoryRegion.of(source);
        post(Wire.READ, false, target, MemoryUsage.READ_DST, targetOffset, length, flag, 0, address(remote, sourceOffset),
            key(remote), 0, context);
    }

    @Override
    public void write(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        ARGUMENTS.checkAccess("write", source, sourceOffset, target, targetOffset, length, flag);
        TcpRemoteMemoryRegion remote = TcpRemoteMemoryRegion.of(target);
        post(Wire.WRITE, false, source, MemoryUsage.WRITE_SRC, sourceOffset, length, flag, 0, address(remote, targetOffset),
            key(remote), 0, context);
    }

    @Override
    public void writeWithImmediate(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, int immediate, long context) throws RpmaException {
        ARGUMENTS.checkAccess("writeWithImmediate", source, sourceOffset, target, targetOffset, length, flag);
        TcpRemoteMemoryRegion remote = TcpRemoteMemoryRegion.of(target);
        post(Wire.WRITE, true, source, MemoryUsage.WRITE_SRC, sourceOffset, length, flag, immediate,
            address(remote, targetOffset), key(remote), 0, context);
    }

    @Override
    public void atomicWrite(RemoteMemoryRegion target, long targetOffset, long value, CompletionFlag flag, long context)
            throws RpmaException {
        ARGUMENTS.checkAtomicWrite(target, targetOffset, flag);
        TcpRemoteMemoryRegion remote = TcpRemoteMemoryRegion.of(target);
        post(Wire.ATOMIC_WRITE, false, null, null, 0, ATOMIC_WRITE_ALIGNMENT, flag, 0, address(remote, targetOffset),
            key(remote), value, context);
    }

    @Override
    public void flush(RemoteMemoryRegion target, long targetOffset, long length, FlushType type, CompletionFlag flag,
            long context) throws RpmaException {
        ARGUMENTS.checkFlush(target, targetOffset, length, type, flag, isDirectWrite());
        TcpRemoteMemoryRegion remote = TcpRemoteMemoryRegion.of(target);
        ARGUMENTS.checkFlushUsage(remote, type);
        post(type == FlushType.PERSISTENT ? Wire.FLUSH_PERSISTENT : Wire.FLUSH, false, null, null, 0, length, flag,
            (int) (length >>> 32), address(remote, targetOffset), key(remote), 0, context);
    }

    private static long address(TcpRemoteMemoryRegion remote, long offset) {
        return remote == null ? 0 : remote.address(offset);
    }

    private static long key(TcpRemoteMemoryRegion remote) {
        return remote == null ? 0 : remote.unsignedKey();
    }

    private void post(int type, boolean withImmediate, LocalMemoryRegion local, MemoryUsage usage, long offset, long length,
            CompletionFlag flag, int immediate, long address, long key, long value, long context) throws RpmaException {
        checkOpen();
        TcpLocalMemoryRegion region = TcpLocalMemoryRegion.of(local);
        if (!started) {
            throw TcpLog.failure(RpmaError.PROVIDER, ENOTCONN, "the connection is not established"
                + " (Connection.nextEvent returns ESTABLISHED when it is)", null);
        }
        boolean bad = region != null && (region.domain() != domain || !region.allows(usage.bit())
            || !region.contains(offset, length));
        boolean once = early && pair.canSendOnce() && (type == Wire.SEND || type == Wire.WRITE && withImmediate);
        pair.sends().post(type, withImmediate, once, bad, flag == CompletionFlag.ALWAYS, region,
            region == null ? 0 : region.address() + offset, length, immediate, address, key, value, context);
        pair.kick(Drivable.SEND);
    }
}
