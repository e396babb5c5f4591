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
 * The messages and sockets by which two processes meet and send each other the memory that they share: the names of the Unix
 * sockets of listeners, the rendezvous that finds a listener, the hello that a listener sends by TCP, the messages with the
 * descriptors that are attached to them, the description of one end of a connection, and the link between two processes.
 *
 * <p>The views of other processes, and the endpoints and connection requests of {@code io.rpma.soft}, use it. Nothing on the data
 * path does. Any thread may call it; what is not thread-safe says so. It depends on {@code io.rpma.soft.host} and
 * {@code io.rpma.soft.shared}.
 */
package io.rpma.soft.control;
