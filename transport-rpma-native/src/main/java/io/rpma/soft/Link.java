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

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;

/**
 * A Unix socket pair between two processes, beside the control sockets of their connections: each sends the other, once, the
 * descriptors of the memory that all connections share. A message that refers to such memory is sent after the link has taken
 * it, so that whoever misses some finds it by reading on. The end of a link tells that the other process has gone, or needs
 * nothing any more.
 *
 * <p>Made by the process that connects; the other end travels with every connection request until the first of them has been
 * accepted. Used under the lock of the {@link RemoteProcess} that it belongs to.
 */
final class Link {
    private final int fd;
    private int otherEnd;
    // Messages that have been given the other end and are not sent yet; it is not closed under them.
    private int held;
    private boolean confirmed;

    private Link(int fd, int otherEnd) {
        this.fd = fd;
        this.otherEnd = otherEnd;
    }

    /** Creates both ends. */
    static Link create() throws RpmaException {
        int[] ends = new int[2];
        int result = Sockets.socketPair(ends);
        if (result < 0) {
            throw OpenFiles.areExhausted(-result) ? OpenFiles.failure(-result, "a link to another process cannot be made")
                : SoftLog.failure(RpmaError.PROVIDER, -result, "socketpair failed: " + Posix.strerror(-result), null);
        }
        return new Link(ends[0], ends[1]);
    }

    /** Takes over an end that another process has sent. */
    static Link of(int fd) {
        return new Link(fd, -1);
    }

    /** Returns the other end, to be sent, or -1 once it is known to have arrived. */
    int otherEnd() {
        return confirmed ? -1 : otherEnd;
    }

    /** A message has been given the other end; {@link #release()} follows when it has been sent. */
    void hold() {
        held++;
    }

    /** A message that was given the other end has been sent, or will not be. */
    void release() {
        held--;
        closeOtherEnd();
    }

    /** The other process has taken its end. */
    void confirm() {
        confirmed = true;
        closeOtherEnd();
    }

    private void closeOtherEnd() {
        if (confirmed && held == 0 && otherEnd >= 0) {
            Posix.close(otherEnd);
            otherEnd = -1;
        }
    }

    int send(ControlMessage message) {
        return message.send(fd);
    }

    /** Reads a message, and leaves it where it is until {@link #take()}. */
    ControlMessage peek(ControlMessage.Incoming incoming) {
        return ControlMessage.peek(fd, incoming);
    }

    /** Removes the message that has been read. */
    void take() {
        Sockets.takeMessage(fd);
    }

    /** Returns whether the other end is closed. */
    boolean hasHungUp() {
        return otherEnd < 0 && Sockets.hasHungUp(fd);
    }

    void close() {
        confirm();
        Posix.close(fd);
    }
}
