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
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;

/**
 * A descriptor that becomes readable when an event is signalled, by this process or by a peer: a pipe, in which each event is one
 * byte. Counted: it is closed when its last user releases it, so that nobody writes to a number used anew.
 *
 * <p>Why not an {@code eventfd(2)}: that is one open file for both processes, whose flags either of them can change. A peer that
 * clears {@code O_NONBLOCK} and fills the counter blocks whoever signals next, and one that empties the counter blocks whoever
 * reads. A pipe can be opened again: what each side reads from or writes to is an open file of its own, which nobody else has.
 */
final class EventPipe {
    /** How often events are read at once: more than a pipe holds, unless somebody goes on writing. */
    private static final int MOST_READS = 16;
    private static final int NONE = -1;
    // A peer of another user opens it anew as well. Only those can who have been sent it.
    private static final int OTHERS_WRITE = 0622;
    private static final int MODE = SharedFolder.isConfigured() ? OTHERS_WRITE : 0600;

    private final int fd;
    private final UseCount users = new UseCount();
    // The end that the pipe was made with, for the first peer; NONE once it has been given away.
    private int forPeer;

    private EventPipe(int fd, int forPeer) {
        this.fd = fd;
        this.forPeer = forPeer;
    }

    static EventPipe create() throws RpmaException {
        int[] ends = new int[2];
        int result = Libc.pipe(ends);
        if (result < 0) {
            throw failed(result);
        }
        int fd = reopen(ends[0], Libc.O_RDWR);
        Posix.close(ends[0]);
        if (fd < 0) {
            Posix.close(ends[1]);
            throw failed(fd);
        }
        if (SharedFolder.isConfigured()) {
            Libc.changeMode(ends[1], MODE);
        }
        return new EventPipe(fd, ends[1]);
    }

    /** Opens a pipe anew. Another peer may have changed its mode, which all processes of the user can. */
    private static int reopen(int fd, int flags) {
        int result = Libc.reopen(fd, flags);
        if (result == -Posix.EACCES) {
            Libc.changeMode(fd, MODE);
            result = Libc.reopen(fd, flags);
        }
        return result;
    }

    private static RpmaException failed(int result) {
        String what = "making a pipe failed";
        return OpenFiles.areExhausted(-result) ? OpenFiles.failure(-result, what)
            : SoftLog.failure(RpmaError.PROVIDER, -result, what + ": " + Posix.strerror(-result) + "; /proc must be mounted",
                null);
    }

    /**
     * Opens what another process sent, to signal events there. What was sent remains the caller's to close.
     *
     * @return the event descriptor, or {@code null} if it is of another kind; the reason is logged
     * @throws RpmaException if this process has no descriptor left; the same may then be tried again
     */
    static EventPipe open(int sent) throws RpmaException {
        int fd = Libc.isPipe(sent) ? reopen(sent, Libc.O_WRONLY) : -Libc.EBADF;
        if (OpenFiles.areExhausted(-fd)) {
            throw OpenFiles.failure(-fd, "the doorbell of another process cannot be opened");
        }
        if (fd < 0) {
            SoftLog.violation("a doorbell came that is no pipe, or cannot be opened: " + Posix.strerror(-fd));
            return null;
        }
        return new EventPipe(fd, NONE);
    }

    /** Returns the descriptor. Never to be sent to another process. */
    int fd() {
        return fd;
    }

    /** Opens the descriptor for another process: to be sent, and closed then. */
    synchronized int openForPeer() throws RpmaException {
        if (forPeer != NONE) {
            int first = forPeer;
            forPeer = NONE;
            return first;
        }
        int result = reopen(fd, Libc.O_WRONLY);
        if (result < 0) {
            throw failed(result);
        }
        return result;
    }

    /** Makes the descriptor readable. Never waits: where there is no room for another event, it is readable. Only for users. */
    void signal() {
        Libc.signal(fd);
    }

    /** Takes the events; returns how many there were. Never waits. Only for users. */
    long read() {
        long buffer = Scratch.get().messageAddress();
        long count = 0;
        for (int i = 0; i < MOST_READS; i++) {
            long taken = Libc.read(fd, buffer, Scratch.MESSAGE_CAPACITY);
            count += Math.max(0, taken);
            if (taken < Scratch.MESSAGE_CAPACITY) {
                break;
            }
        }
        return count;
    }

    /** Returns whether there is an event. Only for users. */
    boolean isReadable() {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) > 0;
    }

    /** Counts one more user. Only a user may call it. */
    EventPipe retain() {
        users.retain();
        return this;
    }

    /** Becomes a user unless the last one has gone. */
    boolean tryRetain() {
        return users.tryRetain();
    }

    /** Gives up one use. */
    void release() {
        if (users.release()) {
            Posix.close(fd);
            closeForPeer();
        }
    }

    /** No other process needs to be sent the descriptor. */
    synchronized void closeForPeer() {
        if (forPeer != NONE) {
            Posix.close(forPeer);
            forPeer = NONE;
        }
    }
}
