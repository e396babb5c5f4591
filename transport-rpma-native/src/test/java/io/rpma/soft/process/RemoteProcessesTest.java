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
package io.rpma.soft.process;

import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.control.ControlMessage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests how many views a process keeps of others that create one link after another, and close none of them. */
class RemoteProcessesTest {
    private static final int PID = 1 << 22;

    private final RemoteProcesses here = RemoteProcessTest.newProcess(1);
    private final List<Integer> ends = new ArrayList<>();

    @AfterEach
    void close() {
        ends.forEach(Posix::close);
        here.closeIdle();
        assertEquals(0, here.count());
        here.regions().memory().release();
    }

    /** Accepts a process with a new link, the other end of which stays open. The caller releases the view. */
    private RemoteProcess accept(int pid, long identity, long number) throws Exception {
        int[] pair = new int[2];
        assertEquals(0, Sockets.socketPair(pair));
        ends.add(pair[0]);
        return here.accepting(new RemoteProcess.Identity(pid, identity, identity), number,
            new ControlMessage.Attachment(ControlMessage.LINK, 0, 0, pair[1]));
    }

    @Test
    void aViewIsKeptWhileItIsUsedAndTheOldestOthersAreClosed() throws Exception {
        int most = RemoteProcesses.MOST_UNUSED;
        List<RemoteProcess> views = new ArrayList<>();
        for (int i = 0; i < 2 * most; i++) {
            views.add(accept(PID, 2, i));
        }
        RemoteProcess another = accept(PID + 1, 3, 0);
        assertEquals(2 * most + 1, here.count());
        for (RemoteProcess view : views.reversed()) {
            view.release();
        }
        assertEquals(most + 1, here.count());
        // The last views that were used are those that the process is most likely to use again.
        for (int i = 0; i < most; i++) {
            RemoteProcess view = here.accepting(new RemoteProcess.Identity(PID, 2, 2), i, null);
            assertSame(views.get(i), view);
            view.release();
        }
        assertTrue(views.getLast().hasEnded());
        another.release();
        assertEquals(most + 1, here.count());
    }

    /** A process that has no number here can use another identity for each link. */
    @Test
    void theViewsOfProcessesWithoutANumberAreLimitedTogether() throws Exception {
        for (int i = 0; i < RemoteProcesses.MOST_UNUSED_WITHOUT_NUMBER + RemoteProcesses.MOST_UNUSED; i++) {
            accept(0, 4 + i, i).release();
        }
        assertEquals(RemoteProcesses.MOST_UNUSED_WITHOUT_NUMBER, here.count());
    }
}
