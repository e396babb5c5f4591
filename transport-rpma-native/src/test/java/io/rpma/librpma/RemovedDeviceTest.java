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
package io.rpma.librpma;

import io.rpma.Device;
import io.rpma.LocalMemoryRegion;
import io.rpma.MemoryUsage;
import io.rpma.Peer;
import io.rpma.RpmaProvider;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Tests that objects on a device that was removed from the machine remain valid, although librdmacm has noticed the removal. The
 * test adds and removes devices of its own, which it does only in the guest of {@code testsuite/softroce/run.sh}.
 */
@Timeout(120)
class RemovedDeviceTest {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final String IP = "/usr/sbin/ip";
    private static final String RDMA = "/usr/bin/rdma";

    private static String command(String... words) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), () -> List.of(words) + ": " + output);
        return output;
    }

    private static void addNetwork(String name, String address) throws IOException, InterruptedException {
        command(IP, "link", "add", name, "type", "dummy");
        command(IP, "link", "set", name, "mtu", "4200", "up");
        command(IP, "addr", "add", address + "/24", "dev", name);
    }

    @Test
    void objectsOnARemovedDeviceCanBeClosed() throws Exception {
        Library.providerWithDevice();
        Assumptions.assumeTrue(Files.readString(HOST_NAME).strip().equals("softroce") && Files.isWritable(HOST_NAME)
            && Files.isExecutable(Path.of(IP)) && Files.isExecutable(Path.of(RDMA)),
            "this test adds and removes RDMA devices, which it does only as root in the guest");
        addNetwork("rdma8", "10.79.0.1");
        try {
            addNetwork("rdma9", "10.80.0.1");
            try {
                // A process of its own, because a use of freed memory may end it.
                ForkedJvm jvm = ForkedJvm.run(Replace.class, "--enable-native-access=ALL-UNNAMED");
                assertEquals(0, jvm.exitCode(), jvm.output());
                jvm.assertOutputContains("closed");
            } finally {
                // This also removes the device.
                command(IP, "link", "delete", "rdma9");
            }
        } finally {
            command(IP, "link", "delete", "rdma8");
        }
    }

    /** Removes a device while a peer uses it, and then connects to the address of a new device. */
    static final class Replace {
        private Replace() {
        }

        public static void main(String[] arguments) throws Exception {
            RpmaProvider provider = LibrpmaProvider.open();
            command(RDMA, "link", "add", "rxe8", "type", "rxe", "netdev", "rdma8");
            Device removed = provider.localDevice(InetAddress.getByName("10.79.0.1"));
            Peer peer = removed.newPeer();
            LocalMemoryRegion region = peer.register(Arena.global().allocate(4096), EnumSet.of(MemoryUsage.SEND));
            // The command waits until this process has closed the device, but it hides the device at once.
            new ProcessBuilder(RDMA, "link", "delete", "rxe8").start();
            while (command(RDMA, "link").contains("rxe8")) {
                Thread.onSpinWait();
            }
            // librdmacm does not know the new device, so it reads the list of devices again.
            command(RDMA, "link", "add", "rxe9", "type", "rxe", "netdev", "rdma9");
            provider.localDevice(InetAddress.getByName("10.80.0.1")).newPeer().close();
            region.close();
            peer.close();
            System.out.println("closed");
        }
    }
}
