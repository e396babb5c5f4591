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
 * Software RDMA over TCP, in pure Java over the C library: what {@code soft} carries within a host, between hosts.
 * docs/tcp-protocol.md has the wire format, and what TCP cannot promise.
 *
 * <p>The rooms: {@link io.rpma.tcp.QueuePair} is a connection's queue pair, which one thread at a time drives; {@link
 * io.rpma.tcp.Transmitter} and {@link io.rpma.tcp.Receiver} are its halves; {@link io.rpma.tcp.Adapter} is the one thread that
 * drives where owners do not look; {@link io.rpma.tcp.Acceptor} keeps a listener's clients until their requests are there, {@link
 * io.rpma.tcp.Dialer} is the client's side of that; {@link io.rpma.tcp.Alarm} is a descriptor that can be waited for.
 *
 * <p>A connection costs a socket and an epoll set for its events, and one for each completion queue whose descriptor is asked
 * for.
 *
 * <p>What a peer can reach is what was registered for it in the protection domain ({@link io.rpma.Peer}) of its connection, with
 * the key that it was given: key, bounds and usage are checked at every access, by this process. Memory that is taken away is
 * not reached any more when the call returns: a thread that is inside does one system call more at most.
 */
package io.rpma.tcp;
