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
 * Software RDMA over TCP between hosts, in pure Java over the C library; the provider {@code soft} does the same within a host.
 * docs/tcp-protocol.md describes the wire format and the guarantees that TCP cannot give.
 *
 * <p>The main classes: {@link io.rpma.tcp.QueuePair} is a connection's queue pair, which one thread at a time drives ({@link
 * io.rpma.tcp.Drivable}); {@link io.rpma.tcp.Transmitter} and {@link io.rpma.tcp.Receiver} are its halves; {@link
 * io.rpma.tcp.Adapter} is the single thread that drives the connections whose owners do not; {@link io.rpma.tcp.Acceptor} holds
 * the clients of a listener until their requests have arrived, and {@link io.rpma.tcp.Handshake} with its {@link
 * io.rpma.tcp.Dialer} is the client's counterpart; {@link io.rpma.tcp.Alarm} is a descriptor to wait on.
 *
 * <p>The classes are in layers, and no layer names a class of a higher one. From the lowest to the highest: the frames ({@link
 * io.rpma.tcp.Wire}) and {@link io.rpma.tcp.Limits}; {@link io.rpma.tcp.ProtectionDomain} and its regions; the queues; the parts
 * of a queue pair, which use it as an {@link io.rpma.tcp.ErrorState}, and the adapter, which uses it as a {@link
 * io.rpma.tcp.Drivable}; the queue pair; requests and connections; {@link io.rpma.tcp.TcpEndpoint}; {@link
 * io.rpma.tcp.TcpPeer}; {@link io.rpma.tcp.TcpDevice}; {@link io.rpma.tcp.TcpProvider}.
 *
 * <p>A connection costs a socket. An epoll set is created for its events, and for each of its completion queues, when the
 * descriptor for these is requested. Event loops have a task run instead ({@link io.rpma.Connection#eventFd(Runnable)}), so
 * their connections need no further descriptor. Every {@value io.rpma.tcp.ReadableDescriptor#MOST_USERS} of these sets share an
 * event descriptor ({@link io.rpma.tcp.ReadableDescriptor}).
 *
 * <p>A peer can access the memory that was registered for it in the protection domain of its connection ({@link
 * io.rpma.tcp.ProtectionDomain}), with the key that it was given: this process checks key, bounds and usage at every access. When
 * the call that closes a region returns, no thread accesses its memory any more; the call waits for a thread that is inside, for
 * one system call at most.
 */
package io.rpma.tcp;
