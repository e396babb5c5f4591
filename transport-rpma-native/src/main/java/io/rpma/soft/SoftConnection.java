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

import io.rpma.CompletionFlag;
import io.rpma.CompletionQueue;
import io.rpma.ConnectionEvent;
import io.rpma.ConnectionRequest;
import io.rpma.FlushType;
import io.rpma.LocalMemoryRegion;
import io.rpma.RemoteMemoryRegion;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaLog;
import io.rpma.posix.DescriptorWait;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.control.EndDescription;
import io.rpma.soft.host.Shortage;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.process.ControlSocket;
import io.rpma.soft.process.RemoteEnd;
import io.rpma.soft.process.RemoteProcess;
import io.rpma.soft.shared.EventPipe;
import io.rpma.software.ForeignText;
import io.rpma.software.SoftwareConnection;
import io.rpma.software.WorkArguments;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A connection: the queue pair, and the events that arrive on the control socket. */
final class SoftConnection extends SoftwareConnection {
    private static final WorkArguments ARGUMENTS = new WorkArguments(SoftLog.INSTANCE, Limits.MAX_MESSAGE);

    private final ProtectionDomain domain;
    private final Queues queues;
    private final QueuePair queuePair;
    private final ControlSocket control;
    private final ConnectionEvent failure;
    private final EventPipe failed;
    private final boolean active;
    // A message for which this process had too few descriptors or too little memory, to be processed again; or null.
    private ControlMessage putOff;
    private Phase phase = Phase.CONNECTING;
    private boolean rejected;
    private boolean lostReported;
    private boolean endReported;
    private boolean disconnectSent;

    private enum Phase {
        /** The other side has not answered yet. */
        CONNECTING,
        /** Work requests may be posted. */
        ESTABLISHED,
        /** The final event has been delivered. */
        ENDED
    }

    /**
     * Creates a connection.
     *
     * @param control the socket to the other side
     * @param active whether this side has sent the connection request
     * @param privateData the private data of the other side, {@code null} while there is none
     */
    SoftConnection(ProtectionDomain domain, Queues queues, ControlSocket control, boolean active, ByteBuffer privateData,
            InetSocketAddress localAddress, InetSocketAddress remoteAddress) {
        super(SoftLog.INSTANCE, privateData, localAddress, remoteAddress);
        this.failure = null;
        this.failed = null;
        this.domain = domain;
        this.queues = queues;
        this.queuePair = queues.queuePair();
        this.control = control;
        this.active = active;
    }

    /** Creates a connection that has failed already: its only event is the failure. */
    SoftConnection(ProtectionDomain domain, Queues queues, ConnectionEvent failure, InetSocketAddress localAddress,
            InetSocketAddress remoteAddress) throws RpmaException {
        super(SoftLog.INSTANCE, null, localAddress, remoteAddress);
        this.domain = domain;
        this.queues = queues;
        this.queuePair = queues.queuePair();
        this.control = null;
        this.active = true;
        this.failure = failure;
        failed = EventPipe.create();
        failed.signal();
    }

    // ---- events

    @Override
    public int eventFd() {
        return control != null ? control.fd() : failed.fd();
    }

    @Override
    public ConnectionEvent nextEvent() throws RpmaException {
        checkOpen();
        if (control == null) {
            if (failed.read() == 0) {
                return null;
            }
            return finish(failure);
        }
        ConnectionEvent event = null;
        ControlMessage message = putOff != null ? putOff : control.next(awaitsConfirmation());
        while (message != null && event == null) {
            event = takeOrPutOff(message);
            if (event == null) {
                message = control.next(awaitsConfirmation());
            }
        }
        if (event == null) {
            event = end();
        }
        // The events above may be the end of the other side: flush the work requests that wait.
        queuePair.resume();
        return event;
    }

    /** Returns whether the next message confirms the connection, or ends it. Neither message has attachments. */
    private boolean awaitsConfirmation() {
        return !active && phase == Phase.CONNECTING;
    }

    private ConnectionEvent takeOrPutOff(ControlMessage message) throws RpmaException {
        boolean again = false;
        try {
            return take(message);
        } catch (RpmaException e) {
            again = Shortage.isCauseOf(e);
            throw e;
        } finally {
            if (again) {
                message.body().rewind();
                putOff = message;
            } else {
                message.closeAttachments();
                putOff = null;
            }
        }
    }

    /** Returns the event for the end of the socket, once. */
    private ConnectionEvent end() {
        if (control.isBroken()) {
            if (lostReported) {
                return null;
            }
            lostReported = true;
            phase = Phase.ENDED;
            queuePair.peerGone();
            queuePair.fail();
            return ConnectionEvent.LOST;
        }
        if (!control.hasEnded() || endReported) {
            return null;
        }
        endReported = true;
        queuePair.peerGone();
        if (rejected) {
            return null;
        }
        return finish(phase == Phase.CONNECTING ? ConnectionEvent.REJECTED : ConnectionEvent.CLOSED);
    }

    private ConnectionEvent take(ControlMessage message) throws RpmaException {
        if (message.version() != ControlMessage.VERSION) {
            SoftLog.log(RpmaLog.Level.WARNING, "the other side at " + remoteAddress() + " speaks version " + message.version()
                + " of the protocol, this side " + ControlMessage.VERSION + ": use the same release on both sides");
            return finish(ConnectionEvent.REJECTED);
        }
        switch (message.type()) {
            case ControlMessage.ACCEPT:
                return accepted(message);
            case ControlMessage.REJECT:
                byte[] reason = new byte[message.body().remaining()];
                message.body().get(reason);
                SoftLog.log(RpmaLog.Level.WARNING, "rejected by " + remoteAddress() + ": " + ForeignText.of(reason));
                return finish(ConnectionEvent.REJECTED);
            case ControlMessage.READY:
                if (active || phase != Phase.CONNECTING) {
                    return violated("a confirmation that was not expected");
                }
                phase = Phase.ESTABLISHED;
                return ConnectionEvent.ESTABLISHED;
            case ControlMessage.DISCONNECT:
                return finish(phase == Phase.CONNECTING ? ConnectionEvent.REJECTED : ConnectionEvent.CLOSED);
            case ControlMessage.DOORBELL:
                return takeDoorbell(message);
            default:
                return violated("an unexpected message of type " + message.type());
        }
    }

    private ConnectionEvent finish(ConnectionEvent event) {
        phase = Phase.ENDED;
        if (event != ConnectionEvent.CLOSED) {
            // The connection was not established or has broken: flush its receives. After CLOSED, disconnect() does that.
            rejected = true;
            queuePair.fail();
        }
        return event;
    }

    /** Passes the descriptor of the peer's completion queue to the view of its end. */
    private ConnectionEvent takeDoorbell(ControlMessage message) throws RpmaException {
        RemoteEnd end = queuePair.remote();
        EventPipe doorbell = end == null ? null : ControlSocket.openDoorbell(message);
        if (doorbell == null) {
            return violated("an invalid doorbell");
        }
        boolean expected = false;
        boolean open = end.tryRetain();
        if (open) {
            expected = end.doorbellArrived(doorbell);
            end.release();
        }
        if (!expected) {
            doorbell.release();
        }
        return open && !expected ? violated("a doorbell that was not expected") : null;
    }

    private ConnectionEvent violated(String what) {
        SoftLog.violation(User.process(control.peerPid()) + " sent " + what + " on queue pair " + queuePair.number());
        control.breakOff();
        return end();
    }

    /** Handles the acceptance by the server: attaches to its end, and confirms that this end is ready. */
    private ConnectionEvent accepted(ControlMessage message) throws RpmaException {
        EndDescription end = active && phase == Phase.CONNECTING ? EndDescription.read(message.body()) : null;
        if (end == null || message.body().remaining() < ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA) {
            return violated("an invalid acceptance");
        }
        RemoteProcess process = control.remote();
        RemoteEnd remote = process.confirm(new RemoteProcess.Identity(control.peerPid(), end.high(), end.low()))
            ? Attaching.attach(domain.process(), process, end, message) : null;
        if (remote == null) {
            return violated("an invalid acceptance");
        }
        byte[] data = new byte[ConnectionRequest.MAX_ACCEPT_PRIVATE_DATA];
        message.body().get(data);
        acceptedWith(data);
        queuePair.connect(remote);
        phase = Phase.ESTABLISHED;
        queuePair.ready();
        control.send(ControlMessage.bare(ControlMessage.READY));
        queuePair.lendFromNow();
        return ConnectionEvent.ESTABLISHED;
    }

    @Override
    public void disconnect() throws RpmaException {
        checkOpen();
        if (phase == Phase.CONNECTING) {
            return;
        }
        queuePair.fail();
        if (control != null && !disconnectSent) {
            disconnectSent = true;
            control.send(ControlMessage.bare(ControlMessage.DISCONNECT));
        }
    }

    /** Does not notify the other side, which detects that the socket is closed. */
    @Override
    public void disconnectBeforeClose() throws RpmaException {
        checkOpen();
        if (phase != Phase.CONNECTING) {
            queuePair.fail();
        }
    }

    @Override
    public void close() {
        if (!markClosed()) {
            return;
        }
        DescriptorWait.closing(eventFd());
        if (control != null) {
            domain.ranges().removeControl(control);
        }
        if (putOff != null) {
            putOff.closeAttachments();
        }
        try {
            queues.close();
        } finally {
            if (control != null) {
                control.close();
            } else {
                failed.release();
            }
            domain.removeChild();
        }
    }

    @Override
    public boolean isQuiescent() {
        return isClosed() && queuePair.isReclaimed();
    }

    // ---- properties

    @Override
    public int queuePairNumber() {
        return queuePair.number();
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
        return queues.channel().fd();
    }

    @Override
    public CompletionQueue consumeCompletionEvent() throws RpmaException {
        checkShared(queues.isChannelShared());
        ConnectionCompletionQueue main = queues.completions();
        ConnectionCompletionQueue receives = queues.receiveCompletions();
        if (isEventOfReceivesNext(main.hasFired(), receives != null && receives.hasFired())) {
            receives.consume(main);
            return receives;
        }
        return main.consume(receives) ? main : null;
    }

    // ---- work requests

    @Override
    public void receive(LocalMemoryRegion target, long offset, long length, long context) throws RpmaException {
        queuePair.responder().post(SoftLocalMemoryRegion.of(target), offset, length, context);
    }

    @Override
    public void send(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, long context)
            throws RpmaException {
        ARGUMENTS.checkMessage("send", source, offset, length, flag);
        queuePair.post(Operation.SEND, SoftLocalMemoryRegion.of(source), offset, null, 0, length, flag, 0, 0, context);
    }

    @Override
    public void sendWithImmediate(LocalMemoryRegion source, long offset, long length, CompletionFlag flag, int immediate,
            long context) throws RpmaException {
        ARGUMENTS.checkMessage("sendWithImmediate", source, offset, length, flag);
        checkImmediateData("sendWithImmediate");
        queuePair.post(Operation.SEND_IMMEDIATE, SoftLocalMemoryRegion.of(source), offset, null, 0, length, flag, immediate, 0,
            context);
    }

    @Override
    public void read(LocalMemoryRegion target, long targetOffset, RemoteMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        ARGUMENTS.checkAccess("read", target, targetOffset, source, sourceOffset, length, flag);
        queuePair.post(Operation.READ, SoftLocalMemoryRegion.of(target), targetOffset, SoftRemoteMemoryRegion.of(source),
            sourceOffset, length, flag, 0, 0, context);
    }

    @Override
    public void write(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset, long length,
            CompletionFlag flag, long context) throws RpmaException {
        ARGUMENTS.checkAccess("write", source, sourceOffset, target, targetOffset, length, flag);
        queuePair.post(Operation.WRITE, SoftLocalMemoryRegion.of(source), sourceOffset, SoftRemoteMemoryRegion.of(target),
            targetOffset, length, flag, 0, 0, context);
    }

    @Override
    public void writeWithImmediate(RemoteMemoryRegion target, long targetOffset, LocalMemoryRegion source, long sourceOffset,
            long length, CompletionFlag flag, int immediate, long context) throws RpmaException {
        ARGUMENTS.checkAccess("writeWithImmediate", source, sourceOffset, target, targetOffset, length, flag);
        checkImmediateData("writeWithImmediate");
        queuePair.post(Operation.WRITE_IMMEDIATE, SoftLocalMemoryRegion.of(source), sourceOffset,
            SoftRemoteMemoryRegion.of(target), targetOffset, length, flag, immediate, 0, context);
    }

    @Override
    public void atomicWrite(RemoteMemoryRegion target, long targetOffset, long value, CompletionFlag flag, long context)
            throws RpmaException {
        ARGUMENTS.checkAtomicWrite(target, targetOffset, flag);
        queuePair.post(Operation.ATOMIC_WRITE, null, 0, SoftRemoteMemoryRegion.of(target), targetOffset,
            ATOMIC_WRITE_ALIGNMENT, flag, 0, value, context);
    }

    @Override
    public void flush(RemoteMemoryRegion target, long targetOffset, long length, FlushType type, CompletionFlag flag,
            long context) throws RpmaException {
        ARGUMENTS.checkFlush(target, targetOffset, length, type, flag, isDirectWrite());
        SoftRemoteMemoryRegion region = SoftRemoteMemoryRegion.of(target);
        ARGUMENTS.checkFlushUsage(region, type);
        boolean persistent = type == FlushType.PERSISTENT;
        queuePair.post(persistent ? Operation.FLUSH_PERSISTENT : Operation.FLUSH_VISIBILITY, null, 0, region, targetOffset,
            length, flag, 0, 0, context);
    }

    private static void checkImmediateData(String what) throws RpmaException {
        if (!Limits.IMMEDIATE_DATA) {
            throw SoftLog.failure(RpmaError.PROVIDER, 22, what + ": the device does not support immediate data"
                + " (io.rpma.soft.withoutImmediateData)", null);
        }
    }

    /** Returns the queue pair, for tests. */
    QueuePair queuePair() {
        return queuePair;
    }
}
