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
 * address.
 *
 * <p>What two processes share, they share once, not for each connection: the process that connects first makes a
 * {@link io.rpma.soft.Link}, and by it each sends the other the files of its region table, of its address ranges (whole, with
 * holes where nothing is committed), of its shared receive queues, and of the halves of its connections. A file is sent before
 * anything that refers to it, and mapped when something does. A connection then costs one socket, whose end tells of the peer's
 * death, one eventfd, and a slot of memory that both sides have mapped already. The slot is used anew when both sides have let go
 * of it ({@link io.rpma.soft.HalfMemory}); all of it is unmapped a second after the last connection, or at once when the other
 * process is gone.
 *
 * <p>A shared receive queue is the one memory that several other processes write to, and so can write over what the others have
 * written. It is two files. What says where messages go, the posted receives, is written by the owner alone: the kernel lets
 * peers map that file for reading only. What peers write (which receive has been taken by whom, where to look next, who waits,
 * whose ring has something) is believed by nobody. An initiator that finds no receive by the hint looks through the whole ring,
 * and again by itself after a while if nobody rings. The owner compares each completion with the take word of the receive: one
 * that a queue pair has not taken ends that queue pair. It checks a take word before it uses the entry again, and finds the
 * receives that nobody can take and nobody is going to complete, and posts them again
 * ({@link io.rpma.soft.SoftSharedReceiveQueue}). Who has overwritten a word cannot be known, so nobody is blamed for it. What a
 * hostile process of the same user can still do: write exactly the words that make another one's connection break or wait, use up
 * the receives as any sender can, and write into the buffers themselves, since it has mapped the memory that they lie in.
 *
 * <p>One thing an adapter does and this cannot: a send that finds no posted receive waits at its sender, and goes on when the
 * sender makes a call or sleeps on a descriptor of the connection, which the target rings as soon as it posts a receive. A
 * sender that does neither keeps its message back. Whoever counts credits never gets there.
 */
package io.rpma.soft;
