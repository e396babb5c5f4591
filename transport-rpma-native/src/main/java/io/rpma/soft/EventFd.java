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
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** An event descriptor, counted: it is closed when its last user releases it, so that nobody writes to a number used anew. */
final class EventFd {
    private static final byte[] KIND = "anon_inode:[eventfd".getBytes(StandardCharsets.US_ASCII);

    private final int fd;
    private final AtomicInteger users = new AtomicInteger(1);

    private EventFd(int fd) {
        this.fd = fd;
    }

    static EventFd create() throws RpmaException {
        return create(0);
    }

    static EventFd create(int initial) throws RpmaException {
        int fd = Libc.eventfd(initial);
        if (fd < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, -fd, "eventfd failed: " + Posix.strerror(-fd)
                + "; the limit of open files is " + Posix.softLimit(Posix.RLIMIT_NOFILE) + " (ulimit -n)", null);
        }
        return new EventFd(fd);
    }

    /**
     * Takes over a descriptor that another process sent.
     *
     * @return the event descriptor, or {@code null} if it is of another kind; then it is closed and the reason logged
     */
    static EventFd open(int fd) {
        if (!Libc.isNamed(fd, KIND) || !Libc.isNonBlocking(fd)) {
            SoftLog.violation("a doorbell came that is no event descriptor, or would block");
            Posix.close(fd);
            return null;
        }
        return new EventFd(fd);
    }

    int fd() {
        return fd;
    }

    /** Makes the descriptor readable. Only for users. */
    void signal() {
        Libc.signal(fd);
    }

    /** Reads and clears the count, 0 if there was none. Only for users. */
    long read() {
        long value = Scratch.get().vectors();
        return Libc.read(fd, value, 8) == 8 ? Memory.getLong(value) : 0;
    }

    /** Returns whether there is a count. Only for users. */
    boolean isReadable() {
        return Sockets.poll(fd, (short) Sockets.EPOLLIN, 0) > 0;
    }

    /** Counts one more user. Only a user may call it. */
    EventFd retain() {
        users.incrementAndGet();
        return this;
    }

    /** Becomes a user unless the last one has gone. */
    boolean tryRetain() {
        int count = users.get();
        while (count > 0) {
            if (users.compareAndSet(count, count + 1)) {
                return true;
            }
            count = users.get();
        }
        return false;
    }

    /** Gives up one use. */
    void release() {
        if (users.decrementAndGet() == 0) {
            Posix.close(fd);
        }
    }
}
