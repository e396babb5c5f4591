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
package io.rpma.benchmark;

/** What a measurement does on its connections. */
enum Kind {
    /** Sends one message at a time and waits until it has come back, on all connections concurrently. */
    ROUND_TRIP,
    /** Sends a stream in one direction at full speed. The client writes every byte and the server reads every byte. */
    STREAM,
    /**
     * Sends a stream in one direction at full speed. Only the first eight bytes of each message are written and read, as in tools
     * that measure devices.
     */
    BARE_STREAM,
    /** Keeps a fixed number of messages outstanding. The server decodes each message and sends it back individually. */
    PIPELINE,
    /** Opens connections, which the server then closes. */
    CONNECT,
    /** Keeps connections open without transferring data. */
    IDLE
}
