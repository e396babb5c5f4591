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
package io.rpma.soft;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import io.rpma.soft.host.SoftLog;
import io.rpma.software.SoftwareMemoryRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Checks for memory that the provider did not allocate: whether it is mapped, and whether the processes of peers may access it.
 * They copy by {@code process_vm_readv(2)} and {@code process_vm_writev(2)}, which the kernel permits under the rules of tracing.
 */
final class ForeignMemory {
    private static final Path PTRACE_SCOPE = Path.of("/proc/sys/kernel/yama/ptrace_scope");

    private ForeignMemory() {
    }

    /**
     * Refuses memory in which an operation would fault, or that peers have to access but are not permitted to.
     *
     * @param usages the usages that it is registered for
     * @param reached whether peers have to access it
     */
    static void check(MemorySegment memory, int usages, boolean reached) throws RpmaException {
        boolean written = SoftLocalMemoryRegion.isWritten(usages);
        SoftwareMemoryRegion.checkAccess(SoftLog.INSTANCE, memory, written);
        checkMapped(memory.address(), memory.byteSize(), written);
        if (reached) {
            checkReachable();
        }
    }

    /** Refuses memory that is not mapped, or not with the access that is needed: the process would die at the first use. */
    private static void checkMapped(long address, long size, boolean written) throws RpmaException {
        List<String> maps;
        try {
            maps = Files.readAllLines(Path.of("/proc/self/maps"));
        } catch (IOException e) {
            // Without /proc the memory cannot be checked. librpma does not check it either.
            return;
        }
        long at = address;
        for (String line : maps) {
            int dash = line.indexOf('-');
            int blank = line.indexOf(' ');
            long first = Long.parseUnsignedLong(line, 0, dash, 16);
            long end = Long.parseUnsignedLong(line, dash + 1, blank, 16);
            if (Long.compareUnsigned(end, at) <= 0) {
                continue;
            }
            if (Long.compareUnsigned(first, at) > 0 || line.charAt(blank + 1) != 'r'
                || written && line.charAt(blank + 2) != 'w') {
                break;
            }
            at = end;
            if (Long.compareUnsigned(at, address + size) >= 0) {
                return;
            }
        }
        throw SoftLog.failure(RpmaError.PROVIDER, Posix.EFAULT, "register: of " + size + " bytes at 0x"
            + Long.toHexString(address) + ", those from 0x" + Long.toHexString(at) + " on are not mapped for reading"
            + (written ? " and writing" : ""), null);
    }

    private static void checkReachable() throws RpmaException {
        String scope = scope();
        boolean root = Libc.geteuid() == 0;
        if (!root && !Libc.isDumpable()) {
            throw refused("this process is not dumpable (prctl PR_GET_DUMPABLE), so other processes may not access its memory");
        }
        switch (scope) {
            case "0":
                return;
            case "1":
                if (Libc.allowTracers() < 0) {
                    throw refused("/proc/sys/kernel/yama/ptrace_scope is 1, and the kernel rejected the exception to it (prctl"
                        + " PR_SET_PTRACER)");
                }
                return;
            case "2":
                if (!root) {
                    throw refused("/proc/sys/kernel/yama/ptrace_scope is 2: only root may access the memory of other processes");
                }
                return;
            default:
                throw refused("/proc/sys/kernel/yama/ptrace_scope is " + scope + ": no process may access the memory of another");
        }
    }

    private static String scope() {
        try {
            return Files.readString(PTRACE_SCOPE).trim();
        } catch (IOException e) {
            // Without this file there is no Yama.
            return "0";
        }
    }

    private static RpmaException refused(String reason) {
        return SoftLog.failure(RpmaError.PROVIDER, Posix.EPERM, "register: peers could not access this memory: " + reason
            + "; allocate it with RpmaProvider.reserve, which needs no such permission", null);
    }
}
