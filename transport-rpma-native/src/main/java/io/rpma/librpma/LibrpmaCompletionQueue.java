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

import io.rpma.CompletionQueue;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/** {@code struct rpma_cq}; freed with the connection or the shared receive queue that it belongs to. */
final class LibrpmaCompletionQueue extends LibrpmaHandle implements CompletionQueue {
    private static final int NO_COMPLETION = RpmaError.NO_COMPLETION.code();

    private final int fd;
    // The library stores the number of completions here; it is written and read within one call.
    private final MemorySegment got = Arena.ofAuto().allocate(JAVA_INT);
    private final long gotAddress = got.address();

    LibrpmaCompletionQueue(long handle) throws RpmaException {
        super("completion queue", handle);
        fd = LibrpmaDescriptor.nonBlocking(Librpma.CQ_GET_FD, "rpma_cq_get_fd", handle);
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public boolean consumeEvent() throws RpmaException {
        int code = LibrpmaDataPath.cqWait(handle());
        if (code == 0) {
            return true;
        }
        if (code == NO_COMPLETION) {
            return false;
        }
        throw waitFailed(code);
    }

    @Override
    public int poll(WorkCompletions completions) throws RpmaException {
        if (completions == null) {
            throw LibrpmaFailure.invalid("rpma_cq_get_wc: the work completions are null");
        }
        int code = LibrpmaDataPath.cqGetWc(handle(), completions.capacity(), completions.memory().address(), gotAddress);
        Reference.reachabilityFence(completions);
        if (code == 0) {
            int count = got.get(JAVA_INT, 0);
            completions.load(count);
            return count;
        }
        if (code == NO_COMPLETION) {
            return 0;
        }
        throw LibrpmaFailure.of("rpma_cq_get_wc", code, 0, null);
    }

    private static RpmaException waitFailed(int code) {
        return LibrpmaFailure.of("rpma_cq_wait", code, 0, code == RpmaError.SHARED_CHANNEL.code()
            ? "wait on the connection (Connection.consumeCompletionEvent)" : null);
    }
}
