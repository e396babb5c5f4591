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
import static org.junit.jupiter.api.Assertions.assertNull;

import io.rpma.cli.Report.DeviceFile;
import io.rpma.cli.Report.Gid;
import io.rpma.cli.Report.Port;
import io.rpma.cli.Report.RdmaDevice;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelDevicesTest {
    @TempDir
    private Path root;

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text.isEmpty() ? "" : text + "\n");
    }

    private void port(String port, String state, String physicalState, String linkLayer) throws IOException {
        write(port + "state", state);
        write(port + "phys_state", physicalState);
        write(port + "link_layer", linkLayer);
        write(port + "rate", "100 Gb/sec (4X EDR)");
        for (int i = 0; i < 12; i++) {
            write(port + "gids/" + i, "0000:0000:0000:0000:0000:0000:0000:0000");
        }
    }

    /** A link-local address means a different host on each interface. Java also appends the interface to other addresses. */
    @Test
    void onlyALinkLocalAddressKeepsItsInterface() throws Exception {
        byte[] bytes = InetAddress.getByName("fe80::1").getAddress();
        assertEquals("fe80:0:0:0:0:0:0:1%7", KernelDevices.text(Inet6Address.getByAddress(null, bytes, 7)));
        assertEquals("[fe80:0:0:0:0:0:0:1%7]:7471",
            Probe.text(new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 7), 7471)));
        assertEquals("fe80:0:0:0:0:0:0:1", KernelDevices.text(InetAddress.getByName("fe80::1")));
        byte[] unique = InetAddress.getByName("fd77::1").getAddress();
        assertEquals("fd77:0:0:0:0:0:0:1", KernelDevices.text(Inet6Address.getByAddress(null, unique, 7)));
        assertEquals("10.0.0.1", KernelDevices.text(InetAddress.getByName("10.0.0.1")));
    }

    @Test
    void aMachineWithoutDevices() throws Exception {
        assertEquals(List.of(), new KernelDevices(root).list(List.of()));
        assertEquals(List.of(new DeviceFile("/dev/infiniband/rdma_cm", false, false)), new KernelDevices(root).files());
    }

    @Test
    void whatTheKernelShowsOfEachPort() throws Exception {
        String device = "sys/class/infiniband/mlx5_0/";
        write(device + "node_type", "1: CA");
        write(device + "fw_ver", "20.31.1014");
        port(device + "ports/1/", "4: ACTIVE", "5: LinkUp", "Ethernet");
        write(device + "ports/1/gids/10", "0000:0000:0000:0000:0000:ffff:0a4d:0001");
        write(device + "ports/1/gid_attrs/ndevs/10", "none0");
        write(device + "ports/1/gid_attrs/types/10", "RoCE v2");
        write(device + "ports/1/gids/2", "fe80:0000:0000:0000:c80a:35ff:fe68:bb4d");
        port(device + "ports/2/", "2: INIT", "5: LinkUp", "InfiniBand");
        write("sys/class/infiniband/rxe0/node_type", "1: CA");
        write("sys/class/infiniband/rxe0/fw_ver", "");
        write("sys/class/infiniband/rxe0/parent", "lo");
        port("sys/class/infiniband/rxe0/ports/1/", "1: DOWN", "3: Disabled", "Ethernet");

        List<RdmaDevice> devices = new KernelDevices(root).list(List.of("mlx5_0"));
        assertEquals(List.of("rxe0", "mlx5_0"), devices.stream().map(RdmaDevice::name).toList());
        RdmaDevice card = devices.getLast();
        assertEquals("CA", card.type());
        assertEquals("20.31.1014", card.firmware());
        assertEquals(true, card.usable());
        assertEquals(new Port(1, "ACTIVE", "LinkUp", "Ethernet", "100 Gb/sec (4X EDR)", List.of("none0"), List.of(),
            List.of(new Gid(2, "fe80:0000:0000:0000:c80a:35ff:fe68:bb4d", null, null),
                new Gid(10, "0000:0000:0000:0000:0000:ffff:0a4d:0001", "RoCE v2", "none0"))), card.ports().getFirst());
        assertEquals("INIT", card.ports().getLast().state());
        RdmaDevice software = devices.getFirst();
        assertEquals(false, software.usable());
        assertNull(software.firmware());
        assertEquals(List.of("lo"), software.ports().getFirst().networkInterfaces());
        assertEquals(true, software.ports().getFirst().addresses().contains("127.0.0.1"));
        assertNull(new KernelDevices(root).list(null).getFirst().usable());
    }

    @Test
    void theFilesOfTheDevices() throws Exception {
        write("sys/class/infiniband_verbs/abi_version", "6");
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0");
        write("dev/infiniband/uverbs0", "");
        assertEquals(List.of(new DeviceFile("/dev/infiniband/rdma_cm", false, false),
            new DeviceFile("/dev/infiniband/uverbs0", true, true)), new KernelDevices(root).files());
    }
}
