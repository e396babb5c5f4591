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
 * The memory that two processes share, and the pipes by which they wake each other: the files and their mappings, the address
 * ranges, the layout of the half of a connection, the table of memory regions, the rings of receives and completions, the words
 * of shared receive queues, the doorbells, and the copy that bypasses the caches.
 *
 * <p>The other packages of the provider use it, except for {@code io.rpma.soft.host}, which is the only one that it depends on.
 * The threads that post and poll work requests call it on the data path, without a lock. The page docs/memory-order.md lists each
 * word, the modes of its loads and stores, and what their order guarantees.
 */
package io.rpma.soft.shared;
