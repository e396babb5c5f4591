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

import java.io.IOException;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The properties of this host that the suggested commands depend on.
 *
 * @param distributions the names of the system and of the systems that it is derived from, as in {@code /etc/os-release}
 * @param root whether this user needs no {@code sudo}
 * @param container whether this is a container, which gets its devices from the host
 * @param networkInterface a network interface that a software device could be put on
 */
record Host(List<String> distributions, boolean root, boolean container, Optional<String> networkInterface) {
    static Host read() throws IOException {
        return new Host(likes(), Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
            Files.exists(Path.of("/.dockerenv")) || Files.exists(Path.of("/run/.containerenv")), firstNetworkInterface());
    }

    private static List<String> likes() throws IOException {
        Path release = Path.of("/etc/os-release");
        if (!Files.exists(release)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(release)) {
            return lines.filter(line -> line.startsWith("ID=") || line.startsWith("ID_LIKE="))
                .flatMap(line -> Arrays.stream(line.substring(line.indexOf('=') + 1).replace("\"", "").split(" "))).toList();
        }
    }

    private static Optional<String> firstNetworkInterface() throws IOException {
        try (Stream<NetworkInterface> all = NetworkInterface.networkInterfaces()) {
            return all.filter(network -> network.inetAddresses().anyMatch(address -> !address.isLoopbackAddress()))
                .min(Comparator.comparingInt(NetworkInterface::getIndex)).map(NetworkInterface::getName);
        }
    }

    /** Returns a form of the command that runs it as the administrator. */
    String asRoot(String command) {
        return root ? command : "sudo " + command;
    }

    /** Returns the command that installs librpma and the packages that it needs to find a device. */
    String install() {
        if (distributions.contains("debian") || distributions.contains("ubuntu")) {
            return asRoot("apt install librpma0 ibverbs-providers");
        }
        if (distributions.contains("fedora") || distributions.contains("rhel")) {
            return asRoot("dnf install librpma libibverbs");
        }
        if (distributions.contains("suse") || distributions.contains("opensuse")) {
            return asRoot("zypper install librpma0 libibverbs1");
        }
        return "git clone --branch 1.3.0 https://github.com/pmem/rpma && cmake -S rpma -B rpma/build && "
            + asRoot("cmake --build rpma/build --target install");
    }
}
