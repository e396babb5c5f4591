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
 * The views of other processes: which there are and how long they are kept, what each process has been sent of the memory of this
 * one, what it has sent and is mapped here, its regions that have been found, the slots for the halves of the connections to it,
 * its ends of these connections, and the control socket of a connection, which carries the request to read the link. Also the
 * grace periods after which memory can be reused that another process may still be accessing.
 *
 * <p>The connections and queue pairs of {@code io.rpma.soft} use it. Any thread may call it: the lock of each view guards the
 * link and everything that is sent and received on it. On the data path, regions that have been found before are looked up, and
 * the other end is woken, without a lock. It depends on {@code io.rpma.soft.control}, {@code io.rpma.soft.shared} and
 * {@code io.rpma.soft.host}.
 */
package io.rpma.soft.process;
