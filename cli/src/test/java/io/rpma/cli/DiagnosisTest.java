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

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.cli.Report.DeviceFile;
import io.rpma.cli.Report.Gid;
import io.rpma.cli.Report.Library;
import io.rpma.cli.Report.LockedMemory;
import io.rpma.cli.Report.NativeAccess;
import io.rpma.cli.Report.Port;
import io.rpma.cli.Report.RdmaDevice;
import io.rpma.cli.Report.Remedy;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
    private static final String FROM_SOURCE = "git clone --branch 1.3.0 https://github.com/pmem/rpma"
        + " && cmake -S rpma -B rpma/build && cmake --build rpma/build --target install";
    private static final NativeAccess GRANTED = new NativeAccess("granted", "--enable-native-access=ALL-UNNAMED");
    private static final LockedMemory UNLIMITED = new LockedMemory(null, null, false);
    private static final Library LIBRARY = new Library("librpma.so.0", "/usr/lib/librpma.so.0", "1.x", null);
    private static final List<DeviceFile> FILES = List.of(new DeviceFile("/dev/infiniband/rdma_cm", true, true));

    private final Host debian = new Host(List.of("debian"), false, false, Optional.of("eth7"));

    private static List<RdmaDevice> device(String state, String physicalState, String linkLayer, boolean usable,
            String... addresses) {
        return List.of(new RdmaDevice("dev0", "CA", null, usable, List.of(new Port(1, state, physicalState, linkLayer, "1",
            List.of("net0"), List.of(addresses), List.<Gid>of()))));
    }

    private List<String> commands(Host host, Library library, NativeAccess access, LockedMemory memory, List<RdmaDevice> devices,
            List<DeviceFile> files) {
        return Diagnosis.of(host, library, access, memory, devices, files).stream().map(Remedy::command).toList();
    }

    private List<String> commands(List<RdmaDevice> devices) {
        return commands(debian, LIBRARY, GRANTED, UNLIMITED, devices, FILES);
    }

    @Test
    void nothingIsMissingOnACompleteMachine() {
        assertEquals(List.of(), commands(device("ACTIVE", "LinkUp", "Ethernet", true, "10.0.0.1")));
    }

    @Test
    void theLibraryOfEachDistribution() {
        Library none = new Library("librpma.so.0", null, null, "no library");
        List<RdmaDevice> devices = device("ACTIVE", "LinkUp", "Ethernet", false, "10.0.0.1");
        List<RdmaDevice> unknown = List.of(new RdmaDevice("dev0", "CA", null, null, devices.getFirst().ports()));
        for (String[] pair : new String[][] {
            {"debian", "apt install librpma0 ibverbs-providers"},
            {"fedora", "dnf install librpma libibverbs"},
            {"suse", "zypper install librpma0 libibverbs1"},
            {"arch", FROM_SOURCE},
        }) {
            assertEquals(List.of(pair[1]), commands(new Host(List.of(pair[0]), true, false, Optional.empty()), none, GRANTED,
                UNLIMITED, unknown, FILES));
        }
    }

    @Test
    void aDeviceInSoftwareWhereThereIsNone() {
        assertEquals(List.of("sudo modprobe rdma_rxe && sudo rdma link add rxe0 type rxe netdev eth7"), commands(List.of()));
        assertEquals(List.of("docker run --device /dev/infiniband --ulimit memlock=-1 --network host ..."),
            commands(new Host(List.of(), true, true, Optional.of("eth0")), LIBRARY, GRANTED, UNLIMITED, List.of(), List.of()));
    }

    @Test
    void whatKeepsADeviceFromBeingUsed() {
        assertEquals(List.of("sudo ip link set dev net0 up"), commands(device("DOWN", "Disabled", "Ethernet", false)));
        assertEquals(List.of("sudo systemctl start opensm"), commands(device("INIT", "LinkUp", "InfiniBand", false)));
        assertEquals(List.of("sudo ip address add 192.168.77.1/24 dev net0"),
            commands(device("ACTIVE", "LinkUp", "Ethernet", false)));
        assertEquals(List.of("sudo apt install librpma0 ibverbs-providers"),
            commands(device("ACTIVE", "LinkUp", "Ethernet", false, "10.0.0.1")));
    }

    @Test
    void oneActivePortOfTwoIsEnough() {
        Port active = device("ACTIVE", "LinkUp", "Ethernet", true, "10.0.0.1").getFirst().ports().getFirst();
        Port down = device("DOWN", "Disabled", "Ethernet", true).getFirst().ports().getFirst();
        assertEquals(List.of(), commands(List.of(new RdmaDevice("dev0", "CA", null, true, List.of(down, active)))));
    }

    @Test
    void theFilesOfUserSpace() {
        List<RdmaDevice> good = device("ACTIVE", "LinkUp", "Ethernet", true, "10.0.0.1");
        assertEquals(List.of("sudo modprobe rdma_ucm", "sudo modprobe ib_uverbs", "sudo chmod a+rw /dev/infiniband/uverbs1"),
            commands(debian, LIBRARY, GRANTED, UNLIMITED, good, List.of(new DeviceFile("/dev/infiniband/rdma_cm", false, false),
                new DeviceFile("/dev/infiniband/uverbs0", false, false),
                new DeviceFile("/dev/infiniband/uverbs1", true, false))));
    }

    @Test
    void memoryThatMayBeLocked() {
        List<RdmaDevice> good = device("ACTIVE", "LinkUp", "Ethernet", true, "10.0.0.1");
        assertEquals(List.of("ulimit -l unlimited"),
            commands(debian, LIBRARY, GRANTED, new LockedMemory(8L << 20, null, false), good, FILES));
        assertEquals(List.of("sudo prlimit --memlock=unlimited --pid $$"),
            commands(debian, LIBRARY, GRANTED, new LockedMemory(8L << 20, 8L << 20, false), good, FILES));
        assertEquals(List.of(), commands(debian, LIBRARY, GRANTED, new LockedMemory(8L << 20, 8L << 20, true), good, FILES));
        assertEquals(List.of(), commands(debian, LIBRARY, GRANTED, new LockedMemory(64L << 20, 64L << 20, false), good, FILES));
    }

    @Test
    void nativeAccess() {
        List<RdmaDevice> good = device("ACTIVE", "LinkUp", "Ethernet", true, "10.0.0.1");
        String flag = "--enable-native-access=ALL-UNNAMED";
        assertEquals(List.of("java " + flag + " ..."),
            commands(debian, LIBRARY, new NativeAccess("warned", flag), UNLIMITED, good, FILES));
        assertEquals(List.of("java " + flag + " ..."), commands(debian, new Library("librpma.so.0", null, null, "not tried"),
            new NativeAccess("refused", flag), UNLIMITED, List.of(new RdmaDevice("dev0", "CA", null, null,
                good.getFirst().ports())), FILES));
    }
}
