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

import io.rpma.cli.Report.DeviceFile;
import io.rpma.cli.Report.Gid;
import io.rpma.cli.Report.Port;
import io.rpma.cli.Report.RdmaDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;

/** Reads the RDMA devices that the kernel lists in {@code /sys/class/infiniband}, including those that no library can use. */
final class KernelDevices {
    private static final String EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

    private final Path root;

    /** Creates a reader for the files below a folder; {@code /} stands for this machine. */
    KernelDevices(Path root) {
        this.root = root;
    }

    /**
     * Returns the devices.
     *
     * @param usable the names of the devices that the library can make connections on; {@code null} if there is no library
     */
    List<RdmaDevice> list(Collection<String> usable) throws IOException {
        List<RdmaDevice> devices = new ArrayList<>();
        for (Path device : entries(root.resolve("sys/class/infiniband"))) {
            String name = name(device);
            List<Port> ports = new ArrayList<>();
            for (Path port : entries(device.resolve("ports"))) {
                ports.add(port(port));
            }
            devices.add(new RdmaDevice(name, afterColon(text(device.resolve("node_type"))), text(device.resolve("fw_ver")),
                usable == null ? null : usable.contains(name), ports));
        }
        return devices;
    }

    /** Returns the files through which a process accesses the devices. */
    List<DeviceFile> files() throws IOException {
        List<DeviceFile> files = new ArrayList<>();
        files.add(file("dev/infiniband/rdma_cm"));
        for (Path device : entries(root.resolve("sys/class/infiniband_verbs"))) {
            if (Files.exists(device.resolve("ibdev"))) {
                files.add(file("dev/infiniband/" + name(device)));
            }
        }
        return files;
    }

    private DeviceFile file(String path) {
        Path file = root.resolve(path);
        return new DeviceFile("/" + path, Files.exists(file), Files.isReadable(file) && Files.isWritable(file));
    }

    private static Port port(Path port) throws IOException {
        LinkedHashSet<String> interfaces = new LinkedHashSet<>();
        List<Gid> gids = new ArrayList<>();
        for (Path entry : entries(port.resolve("gids"))) {
            String gid = text(entry);
            if (gid == null || gid.equals(EMPTY_GID)) {
                continue;
            }
            String networkInterface = text(port.resolve("gid_attrs/ndevs").resolve(name(entry)));
            if (networkInterface != null) {
                interfaces.add(networkInterface);
            }
            gids.add(new Gid(Integer.parseInt(name(entry)), gid, text(port.resolve("gid_attrs/types").resolve(name(entry))),
                networkInterface));
        }
        // A device that lists no identifiers may still have a network interface. A software device names it in the file parent,
        // and a card has it in the folder device/net.
        Path device = port.getParent().getParent();
        String parent = text(device.resolve("parent"));
        if (parent != null) {
            interfaces.add(parent);
        }
        for (Path network : entries(device.resolve("device/net"))) {
            interfaces.add(name(network));
        }
        return new Port(Integer.parseInt(name(port)), afterColon(text(port.resolve("state"))),
            afterColon(text(port.resolve("phys_state"))), text(port.resolve("link_layer")), text(port.resolve("rate")),
            List.copyOf(interfaces), addresses(interfaces), gids);
    }

    private static List<String> addresses(Collection<String> interfaces) throws SocketException {
        List<String> addresses = new ArrayList<>();
        for (String name : interfaces) {
            NetworkInterface network = NetworkInterface.getByName(name);
            if (network != null) {
                network.inetAddresses().filter(address -> !address.isLinkLocalAddress()).map(KernelDevices::text)
                    .forEach(addresses::add);
            }
        }
        return addresses;
    }

    /**
     * Returns the text of an address. Java appends the interface to some addresses. It is left out unless the address depends on
     * it, as link-local addresses do.
     */
    static String text(InetAddress address) {
        String text = address.getHostAddress();
        int scope = address.isLinkLocalAddress() ? -1 : text.indexOf('%');
        return scope < 0 ? text : text.substring(0, scope);
    }

    private static List<Path> entries(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            // Names that are numbers are sorted by their value, because shorter names come first.
            return files.sorted(Comparator.<Path>comparingInt(file -> name(file).length()).thenComparing(KernelDevices::name))
                .toList();
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    /**
     * Returns the content of a file, or {@code null} if it is empty or cannot be read. The kernel returns an error for the
     * attributes of empty entries.
     */
    private static String text(Path file) {
        try {
            String text = Files.readString(file).strip();
            return text.isEmpty() ? null : text;
        } catch (IOException e) {
            return null;
        }
    }

    // The text has the form "4: ACTIVE".
    private static String afterColon(String text) {
        return text == null ? null : text.substring(text.indexOf(':') + 1).strip();
    }
}
