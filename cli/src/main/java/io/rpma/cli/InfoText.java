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
import io.rpma.cli.Report.NotTaken;
import io.rpma.cli.Report.Port;
import io.rpma.cli.Report.RdmaDevice;
import io.rpma.cli.Report.Remedy;
import io.rpma.cli.Report.UsableDevice;
import java.io.PrintWriter;
import java.util.List;

/** Writes a report as text for people to read. */
final class InfoText {
    private final PrintWriter out;

    private InfoText(PrintWriter out) {
        this.out = out;
    }

    static void print(Report report, PrintWriter out) {
        InfoText text = new InfoText(out);
        if (report.connection() != null) {
            text.connection(report.connection());
        }
        text.provider(report.provider());
        text.line("paths", report.paths().isEmpty() ? "NONE" : String.join(", ", report.paths()));
        text.library(report.library());
        text.line("native access", switch (report.nativeAccess().state()) {
            case "granted" -> "granted by " + report.nativeAccess().flag();
            case "warned" -> "allowed with a warning; " + report.nativeAccess().flag() + " grants it";
            default -> "REFUSED; " + report.nativeAccess().flag() + " grants it";
        });
        text.lockedMemory(report.lockedMemory());
        text.devices(report.devices());
        for (DeviceFile file : report.files()) {
            text.line(file.path(), !file.exists() ? "not there" : file.accessible() ? "accessible" : "NOT ACCESSIBLE");
        }
        text.missing(report.missing());
        out.flush();
    }

    private void line(String name, String value) {
        out.printf("%-16s %s%n", name, value);
    }

    private void more(String value) {
        line("", value);
    }

    private void connection(Report.Connection connection) {
        line("connection", "to " + connection.to() + (connection.path() == null ? ": NONE: " + connection.problem()
            : " by " + connection.path() + ", device " + connection.device()));
        for (NotTaken better : connection.notTaken()) {
            more("not by " + better.path() + ": " + better.reason());
        }
    }

    private void provider(Report.Provider provider) {
        line("provider", provider.name() == null ? "NONE" : provider.name() + ": " + provider.description());
        more("wish: " + provider.wish() + " (" + provider.wishedBy() + ")");
        more("why: " + provider.reason());
        for (UsableDevice device : provider.devices()) {
            more("device " + device.name() + " at " + String.join(", ", device.addresses()));
            more("  queue pairs " + device.maxQueuePairs() + ", work requests " + device.maxQueuePairWorkRequests()
                + ", completion queues " + device.maxCompletionQueues() + " of " + device.maxCompletionQueueSize());
            more("  memory regions " + device.maxMemoryRegions() + " of " + bytes(device.maxMemoryRegionBytes()) + ", message "
                + bytes(device.maxMessageBytes()) + ", on-demand paging " + (device.onDemandPaging() ? "yes" : "no"));
        }
    }

    private void library(Report.Library library) {
        line("library", library.path() == null ? library.name() + ": not loaded" : library.path());
        if (library.version() != null) {
            more("version: " + library.version());
        }
        more(library.problem() == null ? "usable" : "not usable: " + library.problem());
    }

    private void lockedMemory(Report.LockedMemory memory) {
        line("locked memory", "limit " + bytes(memory.softBytes()) + ", may be raised to " + bytes(memory.hardBytes())
            + (memory.exempt() ? "; this process is exempt (CAP_IPC_LOCK)" : ""));
    }

    private void devices(List<RdmaDevice> devices) {
        if (devices.isEmpty()) {
            line("kernel devices", "none in /sys/class/infiniband");
        }
        for (RdmaDevice device : devices) {
            line("kernel device", device.name() + " (" + device.type() + (device.firmware() == null ? "" : ", firmware "
                + device.firmware()) + ")" + (device.usable() == null ? "" : device.usable() ? ", usable" : ", NOT USABLE"));
            for (Port port : device.ports()) {
                more("port " + port.number() + ": " + port.state() + ", " + port.physicalState() + ", " + port.linkLayer() + ", "
                    + port.rate());
                more("  on " + String.join(", ", port.networkInterfaces()) + " at "
                    + (port.addresses().isEmpty() ? "NO ADDRESS" : String.join(", ", port.addresses())));
                for (Gid gid : port.gids()) {
                    more("  gid " + gid.index() + ": " + gid.gid() + (gid.type() == null ? "" : " " + gid.type()));
                }
            }
        }
    }

    private void missing(List<Remedy> missing) {
        if (missing.isEmpty()) {
            line("missing", "nothing");
        }
        for (Remedy remedy : missing) {
            line("missing", remedy.what());
            more("  " + remedy.command());
        }
    }

    private static String bytes(Long count) {
        if (count == null || count == Long.MAX_VALUE) {
            return "unlimited";
        }
        for (int shift = 40; shift > 0; shift -= 10) {
            if (count >= 1L << shift) {
                long tenths = Math.round(10.0 * count / (1L << shift));
                return (tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10) + " "
                    + " KMGT".charAt(shift / 10) + "iB";
            }
        }
        return count + " bytes";
    }
}
