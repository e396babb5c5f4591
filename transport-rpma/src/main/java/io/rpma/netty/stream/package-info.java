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
 * One end of a stream of bytes, by the protocol of {@code docs/protocol.md}: the handshake, credits, the messages that are sent
 * and received, and the memory for large data. Internal; the module does not export this package.
 *
 * <p>{@link io.rpma.netty.RpmaChannel} shows a stream to Netty, and the dialer and the server channel of streams create its queue
 * pair. Of the transport's packages, this one uses {@code memory}, {@code pair}, {@code receive} and {@code jit}. One event loop
 * at a time uses a stream.
 */
package io.rpma.netty.stream;
