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
import io.rpma.cli.Report.Library;
import io.rpma.cli.Report.LockedMemory;
import io.rpma.cli.Report.NativeAccess;
import io.rpma.cli.Report.Port;
import io.rpma.cli.Report.RdmaDevice;
import io.rpma.cli.Report.Remedy;
import java.util.ArrayList;
import java.util.List;

/** Determines from the findings what librpma lacks on this machine, and the command that fixes it. */
final class Diagnosis {
    /** The locked memory that a server needs at least. The allocator registers slabs of 4 MiB. */
    private static final long LOCKED_MEMORY = 64 << 20;

    private final Host host;
    private final List<Remedy> missing = new ArrayList<>();

    private Diagnosis(Host host) {
        this.host = host;
    }

    /** Returns what is missing, with the most basic requirement first. */
    static List<Remedy> of(Host host, Library library, NativeAccess nativeAccess, LockedMemory lockedMemory,
            List<RdmaDevice> devices, List<DeviceFile> files) {
        Diagnosis diagnosis = new Diagnosis(host);
        diagnosis.nativeAccess(nativeAccess);
        // If Java may not call C, it cannot check whether the library is installed.
        boolean refused = nativeAccess.state().equals("refused");
        if (library.version() == null && !refused) {
            diagnosis.add("librpma 1.0 or newer (" + library.name() + " is not there, or older)", host.install());
        }
        if (devices.isEmpty()) {
            diagnosis.noDevice();
        } else {
            diagnosis.files(files);
            for (RdmaDevice device : devices) {
                diagnosis.device(device);
            }
        }
        diagnosis.lockedMemory(lockedMemory);
        return List.copyOf(diagnosis.missing);
    }

    private void add(String what, String command) {
        missing.add(new Remedy(what, command));
    }

    private void nativeAccess(NativeAccess access) {
        switch (access.state()) {
            case "refused" -> add("native access: this JVM lets Java call no C function", "java " + access.flag() + " ...");
            case "warned" -> add("native access by a flag: this JVM allows it with a warning, a later one will refuse it",
                "java " + access.flag() + " ...");
            default -> { }
        }
    }

    private void noDevice() {
        if (host.container()) {
            add("an RDMA device in this container", "docker run --device /dev/infiniband --ulimit memlock=-1 --network host ...");
            return;
        }
        String network = host.networkInterface().orElse("eth0");
        add("an RDMA device; without a card, Linux makes one in software on the network interface " + network,
            host.asRoot("modprobe rdma_rxe && " + host.asRoot("rdma link add rxe0 type rxe netdev " + network)));
    }

    private void files(List<DeviceFile> files) {
        for (DeviceFile file : files) {
            if (!file.exists()) {
                if (host.container()) {
                    add(file.path() + " in this container", "docker run --device /dev/infiniband --ulimit memlock=-1 ...");
                } else {
                    add(file.path(), host.asRoot(file.path().endsWith("rdma_cm") ? "modprobe rdma_ucm" : "modprobe ib_uverbs"));
                }
            } else if (!file.accessible()) {
                add("the right to read and write " + file.path(), "sudo chmod a+rw " + file.path());
            }
        }
    }

    private void device(RdmaDevice device) {
        boolean active = false;
        boolean reachable = false;
        for (Port port : device.ports()) {
            if ("ACTIVE".equals(port.state())) {
                active = true;
                reachable |= !port.addresses().isEmpty();
            }
        }
        for (Port port : device.ports()) {
            if (!active) {
                inactive(device, port);
            } else if (!reachable && "ACTIVE".equals(port.state())) {
                address(device, port);
            }
        }
        if (reachable && Boolean.FALSE.equals(device.usable())) {
            add("libibverbs' driver for " + device.name() + " (its port is active and has an address, but the library does not"
                + " see it)", host.install());
        }
    }

    private void inactive(RdmaDevice device, Port port) {
        String what = device.name() + " port " + port.number() + " is " + port.state() + " (" + port.physicalState()
            + "), not ACTIVE";
        if ("InfiniBand".equals(port.linkLayer()) && "LinkUp".equals(port.physicalState())) {
            add(what + ": no subnet manager has configured it", host.asRoot("systemctl start opensm"));
        } else if (port.networkInterfaces().isEmpty()) {
            add(what + ": no link", "rdma link show " + device.name() + "/" + port.number());
        } else {
            add(what, host.asRoot("ip link set dev " + port.networkInterfaces().getFirst() + " up"));
        }
    }

    private void address(RdmaDevice device, Port port) {
        String network = port.networkInterfaces().isEmpty() ? "ib0" : port.networkInterfaces().getFirst();
        add(device.name() + " port " + port.number() + " is active, but its network interface has no IP address",
            host.asRoot("ip address add 192.168.77.1/24 dev " + network));
    }

    private void lockedMemory(LockedMemory memory) {
        if (memory.exempt() || memory.softBytes() == null || memory.softBytes() >= LOCKED_MEMORY) {
            return;
        }
        String what = "memory that may be locked, as registered memory is: the limit is " + memory.softBytes() / 1024
            + " KiB, a server wants " + LOCKED_MEMORY / 1024 + " or more";
        if (memory.hardBytes() == null) {
            add(what, "ulimit -l unlimited");
        } else {
            // The command raises the limit of this shell and of the processes that it starts. The deployment documentation
            // describes how to raise it for all users.
            add(what, host.asRoot("prlimit --memlock=unlimited --pid $$"));
        }
    }
}
