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
 * <p>What two processes share, they share once, not for each connection: the process that connects first makes a {@link
 * io.rpma.soft.Link}, and by it each sends the other the files of its region table, of its address ranges (whole, with holes
 * where nothing is committed), of its shared receive queues, and of the halves of its connections. A file is sent before
 * anything that refers to it. Address ranges share files, so that these are few, and a link has room for all of them at once;
 * what it has no room for, because the other process does not read, follows when that process has read. A connection then costs
 * one socket, whose end tells of the peer's death, one eventfd, and a slot of memory that both sides have mapped already. The
 * slot is used anew when both sides have let go of it ({@link io.rpma.soft.HalfMemory}); all of it is unmapped a second after
 * the last connection, or at once when the other process is gone.
 *
 * <p>What a peer can reach. Peers are processes of the same user. The kernel does not keep such a process from the memory that it
 * has been sent, whatever it is meant to do with it:
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
 * <p>One thing an adapter does and this cannot: a send that finds no posted receive waits at its sender, and goes on when the
 * sender makes a call or sleeps on a descriptor of the connection, which the target rings as soon as it posts a receive. A
 * sender that does neither keeps its message back. Whoever counts credits never gets there.
 */
package io.rpma.soft;
