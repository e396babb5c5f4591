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
package io.rpma.soft.control;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SoftLog;

/**
 * A Unix socket pair between two processes, in addition to the control sockets of their connections. On it each process sends the
 * other, once, the descriptors of the memory that all connections share. A message that refers to such memory is sent after the
 * descriptor has been written to the link, so that a process that lacks the memory finds it by reading the link. The end of a
 * link means that the other process has ended, or no longer needs the memory.
 *
 * <p>The process that connects creates the link. It attaches the other end to every connection request until the first of them
 * has been accepted. Used under the lock of the {@code RemoteProcess} that it belongs to.
 */
public final class Link {
    private final int fd;
    private int otherEnd;
    // The number of unsent messages that the other end is attached to; it is not closed before they are sent.
    private int held;
    private boolean confirmed;
    private boolean failed;
    private boolean closed;

    private Link(int fd, int otherEnd) {
        this.fd = fd;
        this.otherEnd = otherEnd;
    }

    /** Creates both ends. */
    public static Link create() throws RpmaException {
        int[] ends = new int[2];
        int result = Sockets.socketPair(ends);
        if (result < 0) {
            throw OpenFiles.areExhausted(-result) ? OpenFiles.failure(-result, "a link to another process cannot be created")
                : SoftLog.failure(RpmaError.PROVIDER, -result, "socketpair failed: " + Posix.strerror(-result), null);
        }
        return new Link(ends[0], ends[1]);
    }

    /** Creates a link from the end that another process has sent, and takes ownership of it. */
    public static Link of(int fd) {
        return new Link(fd, -1);
    }

    /** Returns the other end, to be sent, or -1 once it is known to have arrived. */
    public int otherEnd() {
        return confirmed ? -1 : otherEnd;
    }

    /** Notes that the other end is attached to a message; {@link #release()} follows when the message has been sent. */
    public void hold() {
        held++;
    }

    /** Notes that a message with the other end has been sent or discarded. */
    public void release() {
        held--;
        closeOtherEnd();
    }

    /** Notes that the other process has received its end. */
    public void confirm() {
        confirmed = true;
        closeOtherEnd();
    }

    private void closeOtherEnd() {
        if (confirmed && held == 0 && otherEnd >= 0) {
            Posix.close(otherEnd);
            otherEnd = -1;
        }
    }

    public int send(ControlMessage message) {
        return message.send(fd);
    }

    /** Reads a message and leaves it on the link until {@link #take()}. */
    public ControlMessage peek(ControlMessage.Incoming incoming) {
        return ControlMessage.peek(fd, incoming);
    }

    /** Removes the message that has been read. */
    public void take() {
        Sockets.takeMessage(fd);
    }

    /** Notes that the link cannot be used any more: the other process has ended, or has sent what is not valid. */
    public void fail() {
        failed = true;
    }

    /** Returns whether messages can be sent and read: the link has neither failed nor been closed. */
    public boolean isUsable() {
        return !failed && !closed;
    }

    /** Returns whether the other end is closed. */
    public boolean hasHungUp() {
        return otherEnd < 0 && Sockets.hasHungUp(fd);
    }

    public boolean isClosed() {
        return closed;
    }

    public void close() {
        closed = true;
        confirm();
        Posix.close(fd);
    }
}
