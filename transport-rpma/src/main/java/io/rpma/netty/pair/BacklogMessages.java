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

package io.rpma.netty.pair;

import io.rpma.WorkCompletions;

/** The messages of a connection whose channel is in the backlog of a server channel, and which hold receives that others need. */
@FunctionalInterface
public interface BacklogMessages {
    /**
     * Polls the completion queue of the connection, and moves the messages that have arrived out of their receives. The number of
     * messages is limited; a peer that sends more loses its connection. Does not notify the listener of the queue pair, which
     * reads the messages later.
     *
     * @param batch the batch to fill, at most once
     * @return the number of completions that were handled
     */
    int take(WorkCompletions batch);
}
