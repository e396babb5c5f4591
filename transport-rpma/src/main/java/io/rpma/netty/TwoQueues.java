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

package io.rpma.netty;

import io.rpma.CompletionQueue;
import io.rpma.Connection;
import io.rpma.RpmaException;
import io.rpma.WorkCompletions;

/**
 * Combines the completion queues of a connection whose receives have a queue of their own into one. Both share a descriptor
 * ({@code rpma_conn_cfg_set_compl_channel(3)}).
 */
final class TwoQueues implements CompletionQueue {
    /**
     * One event of each queue, and one more of each that arrives meanwhile. Later events make the descriptor readable again and
     * are handled in a later turn, so that a peer that continues to send does not block the loop.
     */
    private static final int MOST_EVENTS = 4;

    private final Connection connection;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final int fd;
    // The queue that the next call polls first, so that completions of one kind do not keep those of the other waiting.
    private boolean isReceivesTurn;

    TwoQueues(Connection connection) throws RpmaException {
        this.connection = connection;
        sends = connection.completionQueue();
        receives = connection.receiveCompletionQueue();
        fd = connection.completionFd();
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public boolean consumeEvent() throws RpmaException {
        boolean any = false;
        for (int events = 0; events < MOST_EVENTS && connection.consumeCompletionEvent() != null; events++) {
            any = true;
        }
        return any;
    }

    @Override
    public int poll(WorkCompletions completions) throws RpmaException {
        boolean isReceivesFirst = takeTurn();
        int n = (isReceivesFirst ? receives : sends).poll(completions);
        return n != 0 ? n : (isReceivesFirst ? sends : receives).poll(completions);
    }

    @Override
    public int pollWithoutEvent(WorkCompletions completions) throws RpmaException {
        boolean isReceivesFirst = takeTurn();
        int n = (isReceivesFirst ? receives : sends).pollWithoutEvent(completions);
        return n != 0 ? n : (isReceivesFirst ? sends : receives).pollWithoutEvent(completions);
    }

    private boolean takeTurn() {
        isReceivesTurn = !isReceivesTurn;
        return isReceivesTurn;
    }
}
