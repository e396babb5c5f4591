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
 * Registered memory: the devices that it is registered with, the slabs, the blocks and buffers in them, and the memory of closed
 * objects that a peer may still be writing to. Internal; the module does not export this package.
 *
 * <p>All other packages of the transport except {@code loop} and {@code jit} use it, and the public allocator is made of it. It
 * depends on {@code io.rpma}, on Netty's buffers and on {@code io.rpma.netty.jit}. Its classes may be used by any thread, except
 * where they say otherwise: a buffer and the magazines of a thread belong to one thread at a time.
 */
package io.rpma.netty.memory;
