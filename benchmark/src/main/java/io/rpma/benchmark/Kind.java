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
    /** One message there and back, then the next; on every connection at once. */
    ROUND_TRIP,
    /** One way, as fast as it goes; the client writes every byte, the server reads every byte. */
    STREAM,
    /** One way, as fast as it goes; of each message only the first eight bytes are written and read, as by tools for devices. */
    BARE_STREAM,
    /** A number of messages under way at any time; the server frames and returns each by itself. */
    PIPELINE,
    /** Connections that are opened, then closed by the server. */
    CONNECT,
    /** Connections that are open and silent. */
    IDLE
}
