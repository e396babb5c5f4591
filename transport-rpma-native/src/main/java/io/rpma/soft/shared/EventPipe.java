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
package io.rpma.soft.shared;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Scratch;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.OpenFiles;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.SoftLog;

/**
 * A descriptor that becomes readable when an event is signalled, by this process or by a peer: a pipe, in which each event is one
 * byte. It is reference counted: it is closed when its last user releases it, so that no thread writes to a reused descriptor.
 *
 * <p>It is not an {@code eventfd(2)}, because that is one open file description for both processes, whose flags either of them
 * can change. A peer that clears {@code O_NONBLOCK} and fills the counter blocks the next thread that signals, and one that
 * empties the counter blocks the next thread that reads. A pipe can be reopened, so that each side has an open file description
 * of its own.
 */
public final class EventPipe {
    /** The number of pages that the kernel lets a pipe hold. */
    private static final int PAGES = 16;
    /** The number of reads in one call: more than a pipe holds, unless a peer keeps writing. */
    private static final long MOST_READS = 2 * PAGES * Posix.PAGE_SIZE / Scratch.MESSAGE_CAPACITY;
    private static final int NONE = -1;
    // With a shared folder, a peer of another user must be able to reopen the pipe for writing. Only processes that have been
    // sent the pipe can do that.
    private static final int OTHERS_WRITE = 0622;
    private static final int MODE = SharedFolder.isConfigured() ? OTHERS_WRITE : 0600;

    private final int fd;
    private final UseCount users = new UseCount();
    // The end that the pipe was created with, for the first peer; NONE once it has been sent.
    private int forPeer;

    private EventPipe(int fd, int forPeer) {
        this.fd = fd;
        this.forPeer = forPeer;
    }

    /** Creates a pipe of this process. */
    public static EventPipe create() throws RpmaException {
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

    /** Reopens a pipe. Another process may have changed its mode, which all processes of the user can do. */
    private static int reopen(int fd, int flags) {
        int result = Libc.reopen(fd, flags);
        if (result == -Posix.EACCES) {
            Libc.changeMode(fd, MODE);
            result = Libc.reopen(fd, flags);
        }
        return result;
    }

    private static RpmaException failed(int result) {
        String what = "creating a pipe failed";
        return OpenFiles.areExhausted(-result) ? OpenFiles.failure(-result, what)
            : SoftLog.failure(RpmaError.PROVIDER, -result, what + ": " + Posix.strerror(-result) + "; /proc must be mounted",
                null);
    }

    /**
     * Opens a descriptor that another process sent, to signal events to it. The caller still has to close that descriptor.
     *
     * @return the event descriptor, or {@code null} if it is of another kind; the reason is logged
     * @throws RpmaException if this process has no descriptor left; the call may then be repeated
     */
    public static EventPipe open(int sent) throws RpmaException {
        int fd = Libc.isPipe(sent) ? reopen(sent, Libc.O_WRONLY) : -Libc.EBADF;
        if (OpenFiles.areExhausted(-fd)) {
            throw OpenFiles.failure(-fd, "the doorbell of another process cannot be opened");
        }
        if (fd < 0) {
            SoftLog.violation("received a doorbell that is not a pipe or cannot be opened: " + Posix.strerror(-fd));
            return null;
        }
        return new EventPipe(fd, NONE);
    }

    /** Returns the descriptor. It must never be sent to another process. */
    public int fd() {
        return fd;
    }

    /** Opens the descriptor for another process. The caller sends it and then closes it. */
    public synchronized int openForPeer() throws RpmaException {
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

    /** Makes the descriptor readable. Never blocks: a full pipe is readable already. Only a user may call it. */
    public void signal() {
        Libc.signal(fd);
    }

    /** Takes the events and returns their number. Never blocks. Only a user may call it. */
    public long read() {
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

    /** Returns whether there is an event. Only a user may call it. */
    boolean isReadable() {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) > 0;
    }

    /** Returns whether the pipe contains no events, at either end of it. Only a user may call it. */
    boolean isEmpty() {
        return Libc.bytesIn(fd) == 0;
    }

    /** Adds a user. Only a user may call it. */
    public EventPipe retain() {
        users.retain();
        return this;
    }

    /** Adds a user unless the last one has released the pipe. Returns whether it did. */
    public boolean tryRetain() {
        return users.tryRetain();
    }

    /** Removes a user; the last one closes the pipe. */
    public void release() {
        if (users.release()) {
            Posix.close(fd);
            closeForPeer();
        }
    }

    /** Closes the end that is kept for the first peer, because no other process needs it. */
    public synchronized void closeForPeer() {
        if (forPeer != NONE) {
            Posix.close(forPeer);
            forPeer = NONE;
        }
    }
}
