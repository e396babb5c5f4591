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

/**
 * What all connections have in common, whatever they transfer: one end of a connection, its events, and how it ended. Internal;
 * the module does not export this package.
 *
 * <p>The queue pairs of streams and of message channels extend {@link io.rpma.netty.pair.QueuePair}, and the channels use them.
 * The public types that a queue pair needs are reached through {@link io.rpma.netty.pair.UserTypes} and {@link
 * io.rpma.netty.pair.OneSided}. Of the transport's packages, it uses {@code memory} and {@code jit}. A queue pair is used by one
 * event loop at a time; the counters of the process may be read by any thread.
 */
package io.rpma.netty.pair;
