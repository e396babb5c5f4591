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
 * The result of {@code rpma info}. The names of the components are the names in the JSON output. An unlimited value is {@code
 * null}.
 *
 * @param provider which provider a program gets on this machine, and why
 * @param paths the paths that a channel uses and a server listens on by default, best first
 * @param connection how the given address is reached; {@code null} if none was given
 * @param library librpma
 * @param nativeAccess whether the JVM permits Java code to call C functions
 * @param lockedMemory how much memory a process may register
 * @param devices the RDMA devices of the kernel, whether usable or not
 * @param files the kernel's interfaces for RDMA in user space
 * @param missing what is missing, and the command that fixes it, with the most basic requirement first
 */
record Report(Provider provider, List<String> paths, Connection connection, Library library, NativeAccess nativeAccess,
        LockedMemory lockedMemory, List<RdmaDevice> devices, List<DeviceFile> files, List<Remedy> missing) {
    /**
     * The choice of the provider.
     *
     * @param name {@code librpma}, {@code soft} or {@code tcp}; {@code null} if no provider can be used
     * @param description the implementation and its version, or {@code null}
     * @param wish the provider that was requested: {@code auto}, or the name of one
     * @param wishedBy the source of the request
     * @param reason the reason for the choice
     * @param devices the devices of the provider, best first
     */
    record Provider(String name, String description, String wish, String wishedBy, String reason, List<UsableDevice> devices) {
    }

    /**
     * A connection that was made and closed again.
     *
     * @param to the address to connect to
     * @param path {@code shared-memory}, {@code rdma} or {@code tcp}; {@code null} if there was no connection
     * @param device a name such as {@code mlx5_0}, {@code soft} or {@code tcp}; {@code null} if there was no connection
     * @param notTaken the better paths that were not taken, or all paths if there was no connection, best first
     * @param problem the reason why there was no connection; {@code null} if there was one
     */
    record Connection(String to, String path, String device, List<NotTaken> notTaken, String problem) {
    }

    /**
     * A path that the connection did not take.
     *
     * @param path {@code shared-memory}, {@code rdma} or {@code tcp}
     * @param reason the reason why it was not taken
     */
    record NotTaken(String path, String reason) {
    }

    /**
     * A device that connections can be made on.
     *
     * @param name a name such as {@code mlx5_0} or {@code soft}
     * @param addresses the addresses of this host that lead to it
     * @param onDemandPaging whether memory can be registered without being pinned
     * @param maxQueuePairs the maximum number of queue pairs
     * @param maxQueuePairWorkRequests the maximum number of work requests in one send or receive queue
     * @param maxCompletionQueues the maximum number of completion queues
     * @param maxCompletionQueueSize the maximum number of entries in one completion queue
     * @param maxSharedReceiveQueueWorkRequests the maximum number of work requests in one shared receive queue
     * @param maxMemoryRegions the maximum number of memory regions
     * @param maxMemoryRegionBytes the maximum size of one memory region in bytes
     * @param maxMessageBytes the maximum size of one message, read or write in bytes
     */
    record UsableDevice(String name, List<String> addresses, boolean onDemandPaging, int maxQueuePairs,
            int maxQueuePairWorkRequests, int maxCompletionQueues, int maxCompletionQueueSize,
            int maxSharedReceiveQueueWorkRequests, int maxMemoryRegions, long maxMemoryRegionBytes, long maxMessageBytes) {
    }

    /**
     * The C library.
     *
     * @param name the name that was used to load the library
     * @param path the file that was loaded, or {@code null}
     * @param version 1.x, derived from its functions, with the version of the package if the system has it; {@code null} if not
     *     loaded
     * @param problem why librpma cannot be used, because of the library or its devices; {@code null} if it can
     */
    record Library(String name, String path, String version, String problem) {
    }

    /**
     * The permission of the JVM to call C functions.
     *
     * @param state {@code granted}, {@code warned} (granted with a warning, which later Java versions will refuse) or {@code
     *     refused}
     * @param flag the flag that grants it
     */
    record NativeAccess(String state, String flag) {
    }

    /**
     * The limit {@code RLIMIT_MEMLOCK}.
     *
     * @param softBytes the effective limit in bytes
     * @param hardBytes the limit up to which the process may raise it
     * @param exempt whether the process has {@code CAP_IPC_LOCK}, so that no limit applies
     */
    record LockedMemory(Long softBytes, Long hardBytes, boolean exempt) {
    }

    /**
     * A device of the kernel.
     *
     * @param name a name such as {@code mlx5_0}
     * @param type a type such as {@code CA}
     * @param firmware the firmware version; {@code null} if the device does not report it
     * @param usable whether the library can make connections on it; {@code null} if no library is available
     * @param ports the ports of the device
     */
    record RdmaDevice(String name, String type, String firmware, Boolean usable, List<Port> ports) {
    }

    /**
     * A port of a device.
     *
     * @param number the number of the port, starting with 1
     * @param state a state such as {@code ACTIVE}
     * @param physicalState a state such as {@code LinkUp}
     * @param linkLayer {@code Ethernet} or {@code InfiniBand}
     * @param rate a rate such as {@code 100 Gb/sec (4X EDR)}
     * @param networkInterfaces the network interfaces that belong to it
     * @param addresses the addresses of these network interfaces
     * @param gids the global identifiers of the port
     */
    record Port(int number, String state, String physicalState, String linkLayer, String rate, List<String> networkInterfaces,
            List<String> addresses, List<Gid> gids) {
    }

    /**
     * A global identifier of a port.
     *
     * @param index the index in the port's table
     * @param gid the 128 bits in the form of an unabbreviated IPv6 address
     * @param type a type such as {@code RoCE v2}
     * @param networkInterface the network interface that it belongs to, or {@code null}
     */
    record Gid(int index, String gid, String type, String networkInterface) {
    }

    /**
     * A device file.
     *
     * @param path the path of the file
     * @param exists whether the file exists
     * @param accessible whether this user may read and write it
     */
    record DeviceFile(String path, boolean exists, boolean accessible) {
    }

    /**
     * Something that librpma requires and that is missing.
     *
     * @param what what is missing
     * @param command the command that fixes it
     */
    record Remedy(String what, String command) {
    }
}
