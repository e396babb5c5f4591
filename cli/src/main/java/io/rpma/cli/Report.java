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
package io.rpma.cli;

import java.util.List;

/**
 * All that {@code rpma info} found; its components are the names in the JSON. A limit without end is {@code null}.
 *
 * @param provider which provider this machine gets, and why
 * @param paths the paths that a channel takes and a server listens on, best first, unless it is told otherwise
 * @param connection how the address that was given is reached; {@code null} if none was given
 * @param library librpma
 * @param nativeAccess whether the JVM lets Java call C
 * @param lockedMemory how much memory a process may register
 * @param devices the RDMA devices that the kernel has, usable or not
 * @param files the kernel's interfaces for RDMA in user space
 * @param missing what is missing, and the command that mends it, the most basic first
 */
record Report(Provider provider, List<String> paths, Connection connection, Library library, NativeAccess nativeAccess,
        LockedMemory lockedMemory, List<RdmaDevice> devices, List<DeviceFile> files, List<Remedy> missing) {
    /**
     * The choice.
     *
     * @param name {@code librpma} or {@code soft}; {@code null} if none can be used
     * @param description the implementation and its version, or {@code null}
     * @param wish {@code auto}, {@code librpma} or {@code soft}
     * @param wishedBy where the wish comes from
     * @param reason why it came to this
     * @param devices what the provider has, best first
     */
    record Provider(String name, String description, String wish, String wishedBy, String reason, List<UsableDevice> devices) {
    }

    /**
     * A connection that was made, and closed again.
     *
     * @param to the address that was asked for
     * @param path {@code shared-memory}, {@code rdma} or {@code tcp}; {@code null} if there was no connection
     * @param device as {@code mlx5_0}, {@code soft} or {@code tcp}; {@code null} likewise
     * @param notTaken the better paths, or all if there was no connection, best first
     * @param problem why there was no connection; {@code null} if there was one
     */
    record Connection(String to, String path, String device, List<NotTaken> notTaken, String problem) {
    }

    /**
     * A path that the connection has not taken.
     *
     * @param path {@code shared-memory}, {@code rdma} or {@code tcp}
     * @param reason why not
     */
    record NotTaken(String path, String reason) {
    }

    /**
     * A device that connections can be made on.
     *
     * @param name as {@code mlx5_0}, or {@code soft}
     * @param addresses the addresses of this host that lead to it
     * @param onDemandPaging whether memory need not be pinned
     * @param maxQueuePairs queue pairs
     * @param maxQueuePairWorkRequests work requests in one send or receive queue
     * @param maxCompletionQueues completion queues
     * @param maxCompletionQueueSize entries of one completion queue
     * @param maxSharedReceiveQueueWorkRequests work requests in one shared receive queue
     * @param maxMemoryRegions memory regions
     * @param maxMemoryRegionBytes bytes of one memory region
     * @param maxMessageBytes bytes of one message, read or write
     */
    record UsableDevice(String name, List<String> addresses, boolean onDemandPaging, int maxQueuePairs,
            int maxQueuePairWorkRequests, int maxCompletionQueues, int maxCompletionQueueSize,
            int maxSharedReceiveQueueWorkRequests, int maxMemoryRegions, long maxMemoryRegionBytes, long maxMessageBytes) {
    }

    /**
     * The C library.
     *
     * @param name what was asked for
     * @param path the file that was loaded, or {@code null}
     * @param version 1.x by its functions, with the package's version where the system knows it; {@code null} if not loaded
     * @param problem why librpma cannot be used, library or devices; {@code null} if it can
     */
    record Library(String name, String path, String version, String problem) {
    }

    /**
     * The JVM's permission to call C.
     *
     * @param state {@code granted}, {@code warned} (given with a warning, as long as Java does so) or {@code refused}
     * @param flag the flag that grants it
     */
    record NativeAccess(String state, String flag) {
    }

    /**
     * {@code RLIMIT_MEMLOCK}.
     *
     * @param softBytes what holds, in bytes
     * @param hardBytes how far the process may raise it
     * @param exempt whether the process has {@code CAP_IPC_LOCK}, so that no limit holds
     */
    record LockedMemory(Long softBytes, Long hardBytes, boolean exempt) {
    }

    /**
     * A device of the kernel.
     *
     * @param name as {@code mlx5_0}
     * @param type as {@code CA}
     * @param firmware its version; {@code null} where the device tells none
     * @param usable whether the library makes connections on it; {@code null} if no library was there to tell
     * @param ports its ports
     */
    record RdmaDevice(String name, String type, String firmware, Boolean usable, List<Port> ports) {
    }

    /**
     * A port of a device.
     *
     * @param number from 1
     * @param state as {@code ACTIVE}
     * @param physicalState as {@code LinkUp}
     * @param linkLayer {@code Ethernet} or {@code InfiniBand}
     * @param rate as {@code 100 Gb/sec (4X EDR)}
     * @param networkInterfaces the network interfaces that belong to it
     * @param addresses their addresses
     * @param gids its identifiers
     */
    record Port(int number, String state, String physicalState, String linkLayer, String rate, List<String> networkInterfaces,
            List<String> addresses, List<Gid> gids) {
    }

    /**
     * A global identifier of a port.
     *
     * @param index its place in the port's table
     * @param gid 128 bits, as an IPv6 address is written in full
     * @param type as {@code RoCE v2}
     * @param networkInterface the network interface it comes from, or {@code null}
     */
    record Gid(int index, String gid, String type, String networkInterface) {
    }

    /**
     * A special file.
     *
     * @param path the file
     * @param exists whether it is there
     * @param accessible whether this user may read and write it
     */
    record DeviceFile(String path, boolean exists, boolean accessible) {
    }

    /**
     * What is missing for librpma.
     *
     * @param what what is missing
     * @param command the command that mends it
     */
    record Remedy(String what, String command) {
    }
}
