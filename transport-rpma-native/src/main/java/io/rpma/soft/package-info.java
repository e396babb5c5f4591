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
 * Software RDMA within one host, in pure Java over the C library. The initiator's CPU takes the role of the adapter: the thread
 * that posts a send, a write or a read executes it, in memory that both sides have mapped; the target's CPU takes no part. This
 * package has no thread for the data path.
 *
 * <p>The main classes: {@link io.rpma.soft.Requester} executes work requests; {@link io.rpma.soft.QueuePair} connects, fails and
 * closes the parts of a connection; {@link io.rpma.soft.shared.RegionTable} lists the
 * memory of this process that a peer may access; {@link io.rpma.soft.process.RemoteProcess} holds everything that is shared
 * with one other process; {@link io.rpma.soft.process.ControlSocket} carries a connection's events; {@link
 * io.rpma.soft.control.Rendezvous} finds the listener of an address; {@link io.rpma.soft.control.SocketNames} and {@link
 * io.rpma.soft.host.User} determine the processes that memory is shared with.
 *
 * <p>This package contains the implementations of the interfaces of {@link io.rpma}, the queue pairs, the owner's side of shared
 * receive queues, and the acceptance of clients. It uses the packages below it, and these do not use it: {@link
 * io.rpma.soft.process} holds the views of other processes, {@link io.rpma.soft.control} the messages and sockets by which
 * processes meet, {@link io.rpma.soft.shared} the memory that two processes share, and {@link io.rpma.soft.host} what all of them
 * need from the kernel.
 *
 * <p>No two classes of this package need each other, directly or by way of others. From the bottom to the top: {@link
 * io.rpma.soft.LocalProcess} uses the queue pairs as {@link io.rpma.soft.LocalEnd}, and the shared receive queues as {@link
 * io.rpma.soft.process.LocalReceiveQueue}. Regions, queues and endpoints belong to a {@link io.rpma.soft.ProtectionDomain}.
 * The {@link io.rpma.soft.Requester}, {@link io.rpma.soft.Completer} and {@link io.rpma.soft.WaitingRequests} of a queue pair,
 * and the parts of a {@link io.rpma.soft.SoftSharedReceiveQueue}, use the queue pair as {@code LocalEnd} too. {@link
 * io.rpma.soft.QueuePair} owns its parts, {@link io.rpma.soft.Queues} the queues of a connection. Connections and requests are
 * above them, then {@link io.rpma.soft.SoftEndpoint}, and at the top {@link io.rpma.soft.SoftPeer}, {@link
 * io.rpma.soft.SoftDevice} and {@link io.rpma.soft.SoftProvider}, which create the objects below.
 *
 * <p>Two processes share memory once, not once per connection. (If several class loaders of a process have loaded these
 * classes, each of these copies counts as a process.) The process that connects first creates a
 * {@link io.rpma.soft.control.Link}, on which each sends the other the files of its region table, of its address ranges (whole,
 * with holes where nothing is committed), of its shared receive queues, and of the halves of its connections. A file is sent
 * before any reference to it. Address ranges share files, so that there are few files and a link has room for all of them; if
 * the other process does not read and the link is full, the rest is sent when it has read. A work request whose region lies in
 * memory that has not been sent for that reason waits, and the memory is requested
 * ({@link io.rpma.soft.process.ControlSocket#requestUnsent()}). A connection then costs one socket, whose end signals the end
 * of the peer, a doorbell for each completion queue that its owner may wait for ({@link io.rpma.soft.shared.EventPipe}), and a
 * slot of memory that both sides have mapped already. If its receives complete in the completion queue of a shared receive
 * queue, the doorbell of its own queue is created and sent only when the owner requests the descriptor
 * ({@link io.rpma.soft.shared.DeferredDoorbell}). The slot is reused when both sides have released it
 * ({@link io.rpma.soft.process.HalfMemory}); all memory is unmapped a second after the last connection, or at once when the
 * other process has ended.
 *
 * <p>A peer is a process of the same user, or one that shares a folder with this process. The kernel does not restrict it to the
 * intended use of the memory that it has been sent. It can access the following memory:
 * <ul>
 * <li>It can read, and not write, the table of memory regions: the file is sealed against writing, also after it is reopened
 *     (from Linux 5.1 on).
 * <li>It can read and write the halves of its own connections, the shared receive queues of the connections that it has, and
 *     every file of address ranges in which a region lies that peers are to reach (registered for anything but
 *     {@code READ_DST}, {@code WRITE_SRC} and {@code SEND} alone) in a protection domain ({@link io.rpma.Peer}) that it has a
 *     connection with. It gets such a file whole: it can also write to memory that is registered for reading only, to the buffers
 *     of other connections, and to other address ranges of less than 64 MiB, which share files. The first 32 address ranges of
 *     64 MiB or more have a file each, which contains nothing else.
 * <li>It is not sent any other memory: not the ranges of protection domains that it has no connection with, not ranges in which
 *     no region is registered for it, not memory from elsewhere than {@link io.rpma.RpmaProvider#reserve}, which peers reach by
 *     {@code process_vm_readv(2)} and {@code process_vm_writev(2)}, as far as the kernel lets them.
 * </ul> The memory that a peer makes this process map is bounded: one process gets at most a quarter of the address space and a
 * sixteenth of the mappings that the kernel allows, all processes together a half of each ({@link
 * io.rpma.soft.host.MappingLimit}). Only files are mapped whose size is sealed and whose holes can be touched, so that no peer
 * can make an access fail. (If the kernel does not overcommit memory, {@code vm.overcommit_memory=2}, a peer can still take the
 * last page of the machine.)
 *
 * <p>Memory that is taken away from a peer (by closing a connection, a region or a shared receive queue) may still be written
 * to by the operation that the peer's process is executing, and if that process has been stopped, this may last for any time.
 * No thread waits for it. The memory is reclaimed at quiescent states: each queue pair publishes whether it executes an
 * operation and on which region ({@link io.rpma.soft.shared.Half#BUSY}, {@link io.rpma.soft.shared.Half#BUSY_REGION}). A thread
 * that takes memory away publishes that first, and then records which peers are executing an operation in it. If there are any,
 * the closed object is added to the {@link io.rpma.soft.process.LimboList} until each operation ({@link
 * io.rpma.soft.process.GracePeriod}) or its process has ended; {@code isQuiescent} of the closed object returns whether that is
 * the case. A process that has stopped on 64 connections which are closed here gets no further connection. The same applies to a
 * process that does not release its ends of 32,768 connections which are closed here.
 *
 * <p>Unless a folder is configured ({@link io.rpma.soft.host.SharedFolder}), a process shares memory only with processes of its
 * effective user. The kernel attests the users of both ends of a connection's socket when it is connected; the link and
 * everything else is sent over that socket, or over the link. Any process may bind a name in the abstract namespace and connect
 * to one, so a name proves nothing: a listener of another user is skipped, and a client of another user is rejected before any of
 * its data is read. Resources for clients that have not been accepted are bounded ({@link io.rpma.soft.LocalClients}, {@link
 * io.rpma.soft.TcpClients}): their number and the time of each. So is the work of one call ({@link io.rpma.soft.SoftEndpoint}).
 * A client whose request is refused has still created a link; the number of links that are kept although no connection uses them
 * is bounded as well ({@link io.rpma.soft.process.RemoteProcesses}).
 *
 * <p>If this process runs out of descriptors or addresses, the peer is not treated as faulty: a message whose descriptors cannot
 * be received, or whose memory cannot be mapped, stays in its socket, a client that cannot be accepted stays in the kernel's
 * queue, and the call fails with {@code EMFILE} or {@code ENOMEM}. A work request whose region lies in memory that cannot be
 * received or mapped waits, and is tried again at intervals.
 *
 * <p>A shared receive queue is the only memory that several other processes write to, and in which one can therefore overwrite
 * the data of another. It consists of two files. The posted receives, which determine where messages are stored, are written only
 * by the owner: the kernel lets peers map that file only for reading. The words that peers write (the taker of each receive, the
 * hint where to search, which initiators wait, which rings have completions) are not trusted. An initiator that finds no receive
 * by the hint searches the whole ring, and searches again after a while if it is not signalled. The owner compares each
 * completion with the take word of the receive; a completion of a receive that the queue pair has not taken ends that queue pair.
 * The owner checks a take word before it uses the entry again, finds the receives that can neither be taken nor will be
 * completed, and posts them again ({@link io.rpma.soft.SoftSharedReceiveQueue}). It cannot determine which process has changed a
 * word, so it closes no connection because of that. A hostile process of the same user can still write exactly the words that
 * make the connection of another process break or wait, use up the receives as any sender can, and write to the buffers
 * themselves, because it has mapped their memory.
 *
 * <p>The page docs/memory-order.md lists each word that is accessed without a lock, the modes of its loads and stores, and what
 * their order guarantees.
 *
 * <p>There is one difference from an adapter: a send that finds no posted receive waits at its sender, and continues only when
 * the sender makes a call, for instance because a descriptor of the connection has woken it, which the target signals as soon as
 * it posts a receive. The message of a sender that does neither stays unsent. A sender that uses credits is not affected.
 */
package io.rpma.soft;
