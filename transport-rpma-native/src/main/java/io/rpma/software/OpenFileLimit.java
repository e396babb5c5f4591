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
package io.rpma.software;

import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;

/** The text of errors of a process, a user or a system that has no file descriptor left, or no room in epoll sets. */
public final class OpenFileLimit {
    private static final int ENOSPC = 28;

    private OpenFileLimit() {
    }

    /**
     * Returns what failed, why, and what helps.
     *
     * @param errno any number of an error of a call that creates a descriptor, or adds one to an epoll set; only those for a
     *     limit have a remedy
     * @param what cannot be done, as the beginning of a sentence
     */
    public static String text(int errno, String what) {
        String why = what + ": " + Posix.strerror(errno);
        return switch (errno) {
            case Sockets.EMFILE -> why + "; the limit of open files is " + Posix.softLimit(Posix.RLIMIT_NOFILE)
                + ": raise it (ulimit -n, or LimitNOFILE of the systemd service), or close connections";
            case Sockets.ENFILE -> why + "; the limit of open files of the whole system is in /proc/sys/fs/file-max"
                + " (sysctl fs.file-max)";
            case ENOSPC -> why + "; the limit of descriptors in all epoll sets of the user is in"
                + " /proc/sys/fs/epoll/max_user_watches: raise it (sysctl fs.epoll.max_user_watches), or close connections";
            default -> why;
        };
    }
}
