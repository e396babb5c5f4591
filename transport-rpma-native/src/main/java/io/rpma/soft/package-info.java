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
 * address; {@link io.rpma.soft.SocketNames} and {@link io.rpma.soft.User} say with whose processes memory is
 * shared.
 *
 * <p>What two processes share, they share once, not for each connection: the process that connects first makes a {@link
 * io.rpma.soft.Link}, and by it each sends the other the files of its region table, of its address ranges (whole, with holes
 * where nothing is committed), of its shared receive queues, and of the halves of its connections. A file is sent before
 * anything that refers to it. Address ranges share files, so that these are few, and a link has room for all of them at once;
 * what it has no room for, because the other process does not read, follows when that process has read. A connection then costs
 * one socket, whose end tells of the peer's death, one doorbell ({@link io.rpma.soft.EventPipe}), and a slot of memory that both
 * sides have mapped already. The slot is used anew when both sides have let go of it ({@link io.rpma.soft.HalfMemory}); all of it
 * is unmapped a second after the last connection, or at once when the other process is gone.
 *
 * <p>What a peer can reach. Peers are processes of the same user, or those that share a folder with it. The kernel does not keep
 * such a process from the memory that it has been sent, whatever it is meant to do with it:
 * <ul>
 * <li>It can read, and not write, the table of memory regions: the file is sealed against writing, also by whoever opens it anew
 *     (from Linux 5.1 on).
 * <li>It can read and write the halves of its own connections, the shared receive queues of the connections that it has, and
 *     every file of address ranges in which a region lies that peers are to reach (registered for anything but
 *     {@code READ_DST}, {@code WRITE_SRC} and {@code SEND} alone) in a protection domain ({@link io.rpma.Peer}) that it has a
 *     connection with. It gets such a file whole: what is registered for reading only, the buffers of other connections, and
 *     other address ranges of less than 64 MiB, which share files, can be written by it as well. The first 32 address ranges of
 *     64 MiB or more have a file each, which nothing else lies in.
 * <li>It is not sent any other memory: not the ranges of protection domains that it has no connection with, not ranges in which
 *     no region is registered for it, not memory from elsewhere than {@link io.rpma.RpmaProvider#reserve}, which peers reach by
 *     {@code process_vm_readv(2)} and {@code process_vm_writev(2)}, as far as the kernel lets them.
 * </ul>
 * What a peer makes this process map is bounded: a quarter of the address space and a sixteenth of the mappings that the kernel
 * allows for one process, a half of each for all together ({@link io.rpma.soft.MappingLimit}). Only files are mapped whose size
 * is sealed and whose holes can be touched, so that no peer can make an access fail. (Where the kernel does not overcommit
 * memory, {@code vm.overcommit_memory=2}, the last page of the machine remains a peer's to take.)
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
 * <p>Unless it has been told of a folder ({@link io.rpma.soft.SharedFolder}), a process shares memory with those of its effective
 * user only, which the kernel attests for both ends of a connection's socket when it is connected; the link and everything else
 * travels over that socket, or over the link. Anybody may take a name in the abstract namespace and connect to one, so neither
 * says anything: a listener of another user is passed over, and a client of another user is rejected before anything of it is
 * read. What a listener has not agreed to is bounded ({@link
 * io.rpma.soft.SoftEndpoint}): the clients that it waits for, the time that each has, and what one call does.
 *
 * <p>A process that runs out of descriptors or addresses blames nobody: a message whose descriptors it cannot receive, or whose
 * memory it cannot map, stays in its socket, a client that it cannot accept stays in the kernel's queue, and the call fails with
 * {@code EMFILE} or {@code ENOMEM}.
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
