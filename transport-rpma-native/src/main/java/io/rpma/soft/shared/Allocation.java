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

import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;

/**
 * Allocates the pages of a part of a memory file, for a kernel that does not overcommit: a page that cannot be allocated would
 * otherwise kill the process at its first use.
 *
 * <p>If a signal arrives, the kernel undoes the whole call, which then fails with {@code EINTR}. A profiler sends signals all the
 * time. So the pages are allocated in pieces, each of which takes less time than usually passes between two signals.
 */
final class Allocation {
    /** The size of a piece in bytes. */
    static final long PIECE = 1 << 20;

    private static final int PUNCH = Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE;

    private Allocation() {
    }

    /** The call of the C library. */
    interface Call {
        int fallocate(int fd, int mode, long offset, long length);
    }

    /** Allocates all pages of a part of a file, or none of them. Returns 0 or {@code -errno}. */
    static int allocate(int fd, long offset, long length) {
        return allocate(Libc::fallocate, fd, offset, length);
    }

    /** Allocates by a call that a test may replace. */
    static int allocate(Call call, int fd, long offset, long length) {
        long done = 0;
        while (done < length) {
            long piece = Math.min(PIECE, length - done);
            int result = call.fallocate(fd, 0, offset + done, piece);
            if (result == 0) {
                done += piece;
            } else if (result != -Posix.EINTR) {
                if (done > 0) {
                    call.fallocate(fd, PUNCH, offset, done);
                }
                return result;
            }
        }
        return 0;
    }
}
