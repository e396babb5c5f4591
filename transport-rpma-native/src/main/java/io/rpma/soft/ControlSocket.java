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

import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import io.rpma.posix.Posix;

/**
 * The Unix socket between the two ends of a connection: it carries the events of the connection and the descriptors of shared
 * memory, and its end tells that the other process has closed or died. It is the connection's event descriptor.
 *
 * <p>The application takes the events; work requests that need a segment which has not arrived read ahead, but only messages
 * about segments, so that the descriptor stays readable as long as there is an event. Thread-safe.
 */
final class ControlSocket {
    // Replaces the socket of a connection that has ended, so that its descriptor, which stays readable for ever, goes quiet.
    private static final EventFd QUIET = quiet();

    private final LocalProcess process;
    private final int fd;
    private final int peerPid;
    private final ControlMessage.Incoming incoming = new ControlMessage.Incoming();
    private RemoteProcess remote;
    private volatile boolean ended;
    private volatile boolean broken;
    private volatile boolean closed;

    /**
     * Takes over a connected, non-blocking socket.
     *
     * @param peerPid the process at the other end
     */
    ControlSocket(LocalProcess process, int fd, int peerPid) {
        this.process = process;
        this.fd = fd;
        this.peerPid = peerPid;
    }

    private static EventFd quiet() {
        try {
            return EventFd.create();
        } catch (RpmaException e) {
            throw new RpmaUnavailableException(e.getMessage(), e);
        }
    }

    int fd() {
        return fd;
    }

    int peerPid() {
        return peerPid;
    }

    /** Sets whose segments come this way, before the first message about them is read. */
    synchronized void remote(RemoteProcess other) {
        remote = other;
    }

    /** Returns whether the other end is in this process, which needs no segments sent. */
    synchronized boolean isSelf() {
        return remote != null && remote.isSelf();
    }

    /**
     * Sends a message. If it cannot be sent although the other end is there, the two ends would no longer know the same: the
     * connection is broken then.
     *
     * @return 0, or {@code -errno}
     */
    synchronized int send(ControlMessage message) {
        if (closed || ended || broken) {
            return -Sockets.EPIPE;
        }
        int result = message.send(fd);
        if (result < 0 && result != -Sockets.EPIPE && result != -Sockets.ECONNRESET) {
            broken = true;
            SoftLog.violation("process " + peerPid + " cannot be told of the connection's state ("
                + Posix.strerror(-result) + "): it does not read its connection events");
            // Wakes both ends.
            Sockets.shutdown(fd);
        }
        return result;
    }

    /** Returns whether the connection is broken: it is lost. */
    boolean isBroken() {
        return broken;
    }

    /** Breaks the connection, because of what the peer has sent. */
    synchronized void breakOff() {
        broken = true;
        end();
    }

    private void end() {
        if (!ended && !closed) {
            ended = true;
            Libc.replace(QUIET.fd(), fd);
        }
    }

    /**
     * Takes the next message that is an event for the application. Messages about segments are dealt with on the way.
     *
     * @return the message, or {@code null}: then {@link #hasEnded} tells whether there will be another one
     */
    synchronized ControlMessage next() {
        while (!closed && !ended) {
            ControlMessage message = broken ? null : ControlMessage.receive(fd, incoming);
            if (message == null) {
                int result = broken ? 0 : incoming.result;
                if (result == -Posix.EAGAIN) {
                    return null;
                }
                if (result == -Sockets.ECONNRESET || result == -Posix.EINTR) {
                    // The other side closed with something unread; what it had sent before is still to come.
                    continue;
                }
                if (result != 0) {
                    broken = true;
                    SoftLog.violation("process " + peerPid + " sent what is no message of this protocol ("
                        + Posix.strerror(-result) + ")");
                }
                end();
                return null;
            }
            if (!isAboutSegments(message)) {
                return message;
            }
            takeSegments(message);
        }
        return null;
    }

    private static boolean isAboutSegments(ControlMessage message) {
        return message.version() == ControlMessage.VERSION
            && (message.type() == ControlMessage.SEGMENTS || message.type() == ControlMessage.GONE);
    }

    private void takeSegments(ControlMessage message) {
        if (message.type() == ControlMessage.GONE) {
            while (message.body().remaining() >= 4 && remote != null) {
                process.drop(remote, message.body().getInt());
            }
        } else {
            addSegments(message);
        }
        message.closeAttachments();
    }

    /** Adds the segments that come with a message; breaks the connection if one of them is not what it has to be. */
    synchronized void addSegments(ControlMessage message) {
        ControlMessage.Attachment segment = message.take(ControlMessage.SEGMENT);
        while (segment != null) {
            if (remote == null) {
                Posix.close(segment.fd());
            } else if (!remote.addSegment(segment.id(), segment.size(), segment.fd())) {
                broken = true;
                Sockets.shutdown(fd);
                return;
            }
            segment = message.take(ControlMessage.SEGMENT);
        }
    }

    /**
     * Reads messages about segments, if they come next.
     *
     * @return whether there were any; if not, those awaited are behind an event that the application has yet to take
     */
    synchronized boolean learn() {
        boolean learned = false;
        while (!closed && !ended && !broken) {
            short type = ControlMessage.peekType(fd);
            if (type != ControlMessage.SEGMENTS && type != ControlMessage.GONE) {
                break;
            }
            ControlMessage message = ControlMessage.receive(fd, incoming);
            if (message == null) {
                break;
            }
            takeSegments(message);
            learned = true;
        }
        return learned;
    }

    /** Returns whether nothing more comes. */
    boolean hasEnded() {
        return ended;
    }

    /** Returns whether the other end is closed, without taking anything. Locks nothing. */
    boolean isPeerGone() {
        return closed || ended || broken || Sockets.hasHungUp(fd);
    }

    synchronized void close() {
        if (!closed) {
            closed = true;
            Posix.close(fd);
        }
    }
}
