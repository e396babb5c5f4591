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
package io.rpma.soft.process;

import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import io.rpma.soft.shared.EventPipe;
import io.rpma.soft.shared.Range;

/**
 * The Unix socket between the two ends of a connection: it carries the events of the connection, and its end signals that the
 * other process has closed or died. It is the connection's event descriptor. Thread-safe.
 */
public final class ControlSocket {
    // Replaces the socket of a connection that has ended, whose descriptor would otherwise stay readable, when the application
    // asks for further events. Most applications close the connection instead. Null as long as there are no descriptors for it;
    // guarded by the lock of the class.
    private static EventPipe quiet = createQuiet();

    /** The number of messages about the link, without any other message between them, after which the connection is broken. */
    private static final int MOST_LOOKS = 1 << 14;
    /** The body of a message that the link has been read, if the other process has not asked for that. */
    private static final int UNASKED = 1;

    private final RemoteProcess remote;
    private final int fd;
    private final int peerPid;
    // Whether a request to read the link is unanswered, and whether another one has to follow its answer.
    private boolean looking;
    private boolean lookAgain;
    private volatile boolean ended;
    private boolean quieted;
    private volatile boolean broken;
    private volatile boolean closed;

    /**
     * Takes ownership of a connected, non-blocking socket.
     *
     * @param remote the view of the process at the other end, retained by the connection's half
     * @param peerPid the process at the other end, as the kernel reports it
     */
    public ControlSocket(RemoteProcess remote, int fd, int peerPid) {
        this.remote = remote;
        this.fd = fd;
        this.peerPid = peerPid;
    }

    private static EventPipe createQuiet() {
        try {
            return EventPipe.create();
        } catch (RpmaException e) {
            // The failure has been logged.
            return null;
        }
    }

    /** Returns what replaces the socket, {@code null} if it cannot be created now; a later call tries again. */
    private static synchronized EventPipe quiet() {
        if (quiet == null) {
            quiet = createQuiet();
        }
        return quiet;
    }

    public int fd() {
        return fd;
    }

    public int peerPid() {
        return peerPid;
    }

    public RemoteProcess remote() {
        return remote;
    }

    /**
     * Sends a message. If that fails although the other end is open, the states of the two ends would differ: the connection is
     * broken then.
     *
     * @return 0, or {@code -errno}
     */
    public synchronized int send(ControlMessage message) {
        if (closed || ended || broken) {
            return -Sockets.EPIPE;
        }
        int result = message.send(fd);
        if (result < 0 && result != -Sockets.EPIPE && result != -Sockets.ECONNRESET) {
            SoftLog.violation(User.process(peerPid) + " cannot be notified of the connection's state ("
                + Posix.strerror(-result) + "): it does not read its connection events");
            breakBoth();
        }
        return result;
    }

    /** Breaks the connection, and wakes both ends. Any thread may call it. */
    public synchronized void breakBoth() {
        if (!closed && !ended) {
            broken = true;
            Sockets.shutdown(fd);
        }
    }

    /**
     * Sends the other process the ranges that it has not been sent. If that fails, the connection is broken.
     *
     * @param ask whether to ask the other process to read its link when that is due; {@code false} before the message that
     *     connects, which has to be the first one, and for which the link is read in any event
     */
    public synchronized void announce(Iterable<Range> ranges, boolean ask) {
        if (closed || ended || broken) {
            return;
        }
        try {
            if (remote.announce(ranges) && ask) {
                askToLook();
            }
        } catch (RpmaException e) {
            SoftLog.violation(e.getMessage());
            breakBoth();
        }
    }

    /** Asks the other process to read its link. At most one such request is unanswered at a time. */
    public synchronized void askToLook() {
        if (remote.isSelf()) {
            return;
        }
        if (looking) {
            lookAgain = true;
        } else if (send(ControlMessage.bare(ControlMessage.LOOK)) == 0) {
            looking = true;
        }
    }

    /** Handles the request of the other process to read the link. */
    private void look() {
        remote.readAndUnmap();
        send(ControlMessage.bare(ControlMessage.LOOKED));
    }

    /**
     * Lets the other process send the memory for which its link had no room, although it has not asked this process to read the
     * link, or has not been answered because this process has not taken its events. If the message cannot be sent, the other
     * process does not take its events either.
     */
    public synchronized void requestUnsent() {
        if (!closed && !ended && !broken) {
            ControlMessage message = ControlMessage.of(ControlMessage.LOOKED);
            message.body().putInt(UNASKED);
            message.send(fd);
        }
    }

    /**
     * Handles that the other process has read its link, which may have room again.
     *
     * @param asked whether this is the answer to the request to read it
     */
    private synchronized void looked(boolean asked) {
        looking &= !asked;
        try {
            if (remote.sendUnsent() | lookAgain) {
                lookAgain = false;
                askToLook();
            }
        } catch (RpmaException e) {
            // The failure has been logged.
            breakBoth();
        }
    }

    /** Returns whether the connection is broken. */
    public boolean isBroken() {
        return broken;
    }

    /** Breaks the connection, because of what the peer has sent. */
    public synchronized void breakOff() {
        broken = true;
        ended = true;
        quieten();
    }

    private void quieten() {
        EventPipe pipe = quieted || closed ? null : quiet();
        if (pipe != null) {
            quieted = true;
            Libc.replace(pipe.fd(), fd);
        }
    }

    /**
     * Takes the next message that is an event for the application.
     *
     * @param bare whether the other end may only send messages without attachments at present
     * @return the message, or {@code null} if there is none; {@link #hasEnded} then returns whether no other one can follow
     * @throws RpmaException if this process has too few descriptors left to receive it, with the errno {@code EMFILE}; the
     *     message can be taken when there are more
     */
    public ControlMessage next(boolean bare) throws RpmaException {
        ControlMessage message = receive(bare);
        for (int looks = 0; message != null && message.version() == ControlMessage.VERSION
            && (message.type() == ControlMessage.LOOK || message.type() == ControlMessage.LOOKED); looks++) {
            message.closeAttachments();
            if (looks == MOST_LOOKS) {
                SoftLog.violation(User.process(peerPid) + " repeatedly requests that its link be read, without sending other"
                    + " messages");
                breakOff();
                return null;
            }
            if (message.type() == ControlMessage.LOOK) {
                look();
            } else {
                looked(!message.body().hasRemaining());
            }
            message = receive(bare);
        }
        return message;
    }

    private synchronized ControlMessage receive(boolean bare) throws RpmaException {
        if (ended) {
            quieten();
            return null;
        }
        ControlMessage.Incoming incoming = ControlMessage.incoming();
        while (!closed && !ended) {
            ControlMessage message = broken ? null
                : bare ? ControlMessage.receiveBare(fd, incoming) : ControlMessage.receive(fd, incoming);
            if (message != null) {
                return message;
            }
            int result = broken ? 0 : incoming.result;
            if (result == -Posix.EAGAIN) {
                return null;
            }
            if (result == -Sockets.ECONNRESET || result == -Posix.EINTR) {
                // The other side closed with unread data. Messages that it sent before are still to be read.
                continue;
            }
            if (result == -Sockets.EMFILE) {
                throw OpenFiles.failure(Sockets.EMFILE, "the answer of " + User.process(peerPid) + " cannot be received");
            }
            if (result != 0) {
                broken = true;
                SoftLog.violation(User.process(peerPid) + " sent something that is not a message of this protocol ("
                    + Posix.strerror(-result) + ")");
            }
            ended = true;
        }
        return null;
    }

    /**
     * Takes the doorbell of the peer, if it is the next message. Other messages are left for the application.
     *
     * @return the doorbell, {@code null} if it is not the next message; the connection is broken if it is not valid
     */
    synchronized EventPipe takeDoorbell() {
        if (closed || ended || broken) {
            return null;
        }
        ControlMessage message = ControlMessage.peek(fd, ControlMessage.incoming());
        if (message == null) {
            return null;
        }
        try {
            if (message.type() != ControlMessage.DOORBELL || message.version() != ControlMessage.VERSION) {
                return null;
            }
            EventPipe doorbell = openDoorbell(message);
            if (doorbell == null) {
                breakBoth();
            } else {
                Sockets.takeMessage(fd);
            }
            return doorbell;
        } catch (RpmaException e) {
            // Without a descriptor left the message stays, and next() reports the shortage to the application.
            return null;
        } finally {
            message.closeAttachments();
        }
    }

    /**
     * Opens the doorbell that a message carries.
     *
     * @return the doorbell, {@code null} if the message carries none that is valid; the reason is logged
     * @throws RpmaException if this process has no descriptor left
     */
    public static EventPipe openDoorbell(ControlMessage message) throws RpmaException {
        ControlMessage.Attachment attachment = message.find(ControlMessage.EVENT);
        return attachment == null ? null : EventPipe.open(attachment.fd());
    }

    /** Returns whether no further message can arrive. */
    public boolean hasEnded() {
        return ended;
    }

    /** Returns whether the other end is closed, without taking anything. Locks nothing. */
    public boolean isPeerGone() {
        return closed || ended || broken || Sockets.hasHungUp(fd);
    }

    public synchronized void close() {
        if (!closed) {
            closed = true;
            Posix.close(fd);
        }
    }
}
