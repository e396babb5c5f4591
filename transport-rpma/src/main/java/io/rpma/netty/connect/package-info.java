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
 * How connections are made and how they are ended: the attempts of a channel to connect, by one path or by several, the threads
 * that connecting blocks, the connections of a server that are not established yet or are refused, and those of closed channels
 * that still deliver data. Internal; the module does not export this package.
 *
 * <p>The channels and the server channels use it. It depends on the packages for memory, loops, queue pairs and receives,
 * and on {@code io.rpma.netty.jit}. An attempt and a connection are used by one event loop; only the blocking part of
 * connecting runs on threads of its own.
 */
package io.rpma.netty.connect;
