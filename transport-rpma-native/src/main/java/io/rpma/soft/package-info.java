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
 * Software RDMA within one host, in pure Java over the C library. The initiator's CPU is the adapter: whoever posts a send,
 * a write or a read executes it, in memory that both sides have mapped; the target's CPU takes no part. Nothing here runs a
 * thread of its own.
 *
 * <p>The rooms: {@link io.rpma.soft.QueuePair} executes work requests; {@link io.rpma.soft.RegionTable} says which memory of
 * this process a peer may reach; {@link io.rpma.soft.RemoteProcess} is all that is shared with one other process;
 * {@link io.rpma.soft.ControlSocket} carries a connection's events; {@link io.rpma.soft.Rendezvous} finds the listener of an
 * address; {@link io.rpma.soft.User} says with whose processes memory is shared.
 *
 * <p>What two processes share, they share once, not for each connection: the process that connects first makes a {@link
 * io.rpma.soft.Link}, and by it each sends the other the files of its region table, of its address ranges (whole, with holes
 * where nothing is committed), of its shared receive queues, and of the halves of its connections. A file is sent before
 * anything that refers to it, and mapped when something does. A connection then costs one socket, whose end tells of the peer's
 * death, one doorbell ({@link io.rpma.soft.EventFd}), and a slot of memory that both sides have mapped already. The slot is used
 * anew when both sides have let go of it ({@link io.rpma.soft.HalfMemory}); all of it is unmapped a second after the last
 * connection, or at once when the other process is gone.
 *
 * <p>Memory that is taken away from a peer (by closing a connection, a region or a shared receive queue) may still be written to
 * by the operation that the peer's process is in the middle of, and if that process has been stopped, this may last for any
 * time. No thread waits for it. The memory is reclaimed by quiescent states: each queue pair publishes whether it executes an
 * operation and where ({@link io.rpma.soft.Half#BUSY}, {@link io.rpma.soft.Half#BUSY_REGION}); whoever takes memory away makes
 * that known first, then notes which peers are in it. If there are any, what is closed goes into the {@link
 * io.rpma.soft.LimboList} until each of them has left ({@link io.rpma.soft.GracePeriod}) or its process has ended, and {@code
 * isQuiescent} of the closed object tells its user. A process that has stopped on 64 connections which are closed here gets no
 * further connection.
 *
 * <p>Memory is shared between processes of one effective user only, which the kernel attests for both ends of a connection's
 * socket when it is connected; the link and everything else travels over that socket, or over the link. Anybody may take a name
 * in the abstract namespace and connect to one, so neither says anything: a listener of another user is passed over, and a client
 * of another user is rejected before anything of it is read. What a listener has not agreed to is bounded ({@link
 * io.rpma.soft.SoftEndpoint}): the clients that it waits for, the time that each has, and what one call does.
 *
 * <p>A process that runs out of descriptors blames nobody: a message whose descriptors it cannot receive stays in its socket, a
 * client that it cannot accept stays in the kernel's queue, and the call fails with {@code EMFILE}.
 *
 * <p>One thing an adapter does and this cannot: a send that finds no posted receive waits at its sender, and goes on when the
 * sender makes a call or sleeps on a descriptor of the connection, which the target rings as soon as it posts a receive. A
 * sender that does neither keeps its message back. Whoever counts credits never gets there.
 */
package io.rpma.soft;
