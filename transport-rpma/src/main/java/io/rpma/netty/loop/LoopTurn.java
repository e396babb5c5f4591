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

/**
 * What one turn of an event loop has handled. Only the thread of the loop uses this class, so its fields need no lock.
 */
public final class LoopTurn {
    /** The number of handles for which there was work, which the turn reports to Netty. */
    public int active;
    /** The number of descriptors of this transport that epoll has reported since it was run last. */
    int dispatched;
}
