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

package io.rpma.netty.loop;

import io.netty.channel.IoOps;

/** The operations that a handle submits to its registration. */
public enum RpmaIoOps implements IoOps {
    /** The descriptors exist now and have to be watched. */
    OPEN,
    /** The descriptors are about to be closed and must not be watched any more. */
    CLOSE,
    /** The connection has been established: its events may come in another way than before. */
    WATCH,
    /** Completions are expected soon: the queue is to be polled in the next turns of the loop. */
    HOT
}
