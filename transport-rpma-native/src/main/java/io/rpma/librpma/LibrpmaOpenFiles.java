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

package io.rpma.librpma;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;

/**
 * Checks whether this process has file descriptors left. librpma takes a request from its event channel before it fails for lack
 * of descriptors, so that the request is lost; and {@code errno} is that of the clean-up.
 */
final class LibrpmaOpenFiles {
    private LibrpmaOpenFiles() {
    }

    /**
     * Fails unless the process can open a number of descriptors. Another thread may use them up immediately afterwards.
     *
     * @param function the function that needs them, for the message
     * @param fd any open descriptor
     * @param count the number of descriptors needed
     * @throws RpmaException {@link RpmaError#PROVIDER} with the {@code errno} of the attempt: {@code EMFILE} or {@code ENFILE}
     */
    static void require(String function, int fd, int count) throws RpmaException {
        int[] copies = new int[count];
        int open = 0;
        int errno = 0;
        while (open < count && errno == 0) {
            int copy = Posix.duplicate(fd);
            if (copy < 0) {
                errno = -copy;
            } else {
                copies[open++] = copy;
            }
        }
        for (int i = 0; i < open; i++) {
            Posix.close(copies[i]);
        }
        if (errno != 0) {
            throw LibrpmaFailure.of(function, RpmaError.PROVIDER.code(), errno, "a connection needs " + count
                + " file descriptors, but only " + open + " are left: the limit of open files is "
                + Posix.softLimit(Posix.RLIMIT_NOFILE) + "; raise it (ulimit -n), or close connections. The request waits");
        }
    }
}
