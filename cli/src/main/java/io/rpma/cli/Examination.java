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

import io.rpma.Device;
import io.rpma.DeviceLimits;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.RpmaUnavailableException;
import io.rpma.cli.Report.DeviceFile;
import io.rpma.cli.Report.Library;
import io.rpma.cli.Report.LockedMemory;
import io.rpma.cli.Report.NativeAccess;
import io.rpma.cli.Report.Provider;
import io.rpma.cli.Report.RdmaDevice;
import io.rpma.cli.Report.UsableDevice;
import io.rpma.netty.RpmaPath;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Examines this machine: what a program would get, and what the kernel reports. */
final class Examination {
    private static final String LIBRARY = System.getProperty("io.rpma.library", "librpma.so.0");

    private final boolean wishedByOption;

    /**
     * Creates an examination; {@code wishedByOption} says whether the provider in the system property came from the command line.
     */
    Examination(boolean wishedByOption) {
        this.wishedByOption = wishedByOption;
    }

    /**
     * Runs the examination.
     *
     * @param address an address to connect to, or {@code null} for none
     * @param timeoutSeconds how long the connection may take
     */
    Report run(InetSocketAddress address, int timeoutSeconds) throws IOException {
        // This check comes first, because a JVM that only warns no longer shows the difference once it has printed its warning.
        NativeAccess nativeAccess = nativeAccess();
        Provider provider = provider();
        Library library = library(nativeAccess);
        LockedMemory lockedMemory = ProcessLimits.lockedMemory();
        KernelDevices kernel = new KernelDevices(Path.of("/"));
        List<RdmaDevice> devices = kernel.list(usable());
        List<DeviceFile> files = kernel.files();
        boolean works = provider.name() != null;
        return new Report(provider, works ? Probe.paths().stream().map(RpmaPath::toString).toList() : List.of(),
            works && address != null ? Probe.of(address, timeoutSeconds) : null, library, nativeAccess, lockedMemory,
            devices, files, Diagnosis.of(Host.read(), library, nativeAccess, lockedMemory, devices, files));
    }

    private static NativeAccess nativeAccess() {
        Module module = Rpma.class.getModule();
        String flag = "--enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
        if (module.isNativeAccessEnabled()) {
            return new NativeAccess("granted", flag);
        }
        try {
            MemorySegment.NULL.reinterpret(0);
            return new NativeAccess("warned", flag);
        } catch (IllegalCallerException e) {
            return new NativeAccess("refused", flag);
        }
    }

    private Provider provider() {
        String property = System.getProperty(Rpma.PROVIDER_PROPERTY);
        String variable = System.getenv("RPMA_PROVIDER");
        String wish = property != null ? property : variable != null ? variable : "auto";
        String wishedBy = property != null ? wishedByOption ? "--provider" : "-D" + Rpma.PROVIDER_PROPERTY
            : variable != null ? "the variable RPMA_PROVIDER" : "the default";
        try {
            RpmaProvider provider = Rpma.provider();
            String reason;
            if (!wish.isBlank() && !wish.trim().equalsIgnoreCase("auto")) {
                reason = "asked for by " + wishedBy;
            } else if (Rpma.isAvailable()) {
                reason = "the library is 1.x and a device is usable";
            } else {
                reason = "librpma cannot be used: " + Rpma.unavailabilityCause().getMessage();
            }
            return new Provider(provider.name(), provider.description(), wish, wishedBy, reason, devices(provider));
        } catch (RpmaUnavailableException | RpmaException e) {
            return new Provider(null, null, wish, wishedBy, e.getMessage(), List.of());
        }
    }

    private static List<UsableDevice> devices(RpmaProvider provider) throws RpmaException {
        List<UsableDevice> devices = new ArrayList<>();
        for (Device device : provider.devices()) {
            DeviceLimits limits = device.limits();
            devices.add(new UsableDevice(device.name(), device.addresses().stream().map(KernelDevices::text).toList(),
                device.isOnDemandPagingCapable(), limits.maxQueuePairs(), limits.maxQueuePairWorkRequests(),
                limits.maxCompletionQueues(), limits.maxCompletionQueueSize(), limits.maxSharedReceiveQueueWorkRequests(),
                limits.maxMemoryRegions(), limits.maxMemoryRegionSize(), limits.maxMessageSize()));
        }
        return devices;
    }

    private static Library library(NativeAccess nativeAccess) {
        if (nativeAccess.state().equals("refused")) {
            return new Library(LIBRARY, null, null, "not tried, because native access is refused");
        }
        Throwable cause = Rpma.unavailabilityCause();
        Optional<RpmaProvider> loaded = Rpma.library();
        Optional<String> path = LibraryFile.mapped(LIBRARY);
        String version = loaded.isPresent()
            ? "1.x by its functions" + path.flatMap(LibraryFile::packageOf).map(found -> " (package " + found + ")").orElse("")
            : null;
        return new Library(LIBRARY, path.orElse(null), version, cause == null ? null : cause.getMessage());
    }

    /** Returns the names of the devices that librpma can make connections on, or {@code null} if librpma is not available. */
    private static List<String> usable() {
        return Rpma.library().map(library -> {
            try {
                return library.devices().stream().map(Device::name).toList();
            } catch (RpmaException e) {
                // The report about the library contains the reason.
                return List.<String>of();
            }
        }).orElse(null);
    }
}
