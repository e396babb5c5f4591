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
package io.rpma.benchmark;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Reads what the kernel reports about processes of this machine. */
final class Processes {
    /**
     * The unit of the times in {@code /proc/PID/stat}. It is USER_HZ, which is 100 on every Linux system that this project
     * supports.
     */
    private static final long TICK_NANOS = TimeUnit.SECONDS.toNanos(1) / 100;
    private static final int FIELD_UTIME = 14;
    private static final int FIELD_STIME = 15;
    private static final int FIELD_CUTIME = 16;
    private static final int FIELD_CSTIME = 17;
    /** Fields of the first line of {@code /proc/stat}. */
    private static final int FIELD_IDLE = 4;
    private static final int FIELD_IOWAIT = 5;
    private static final int FIELD_STEAL = 8;

    private Processes() {
    }

    /**
     * Returns the processor time of a process since its start in nanoseconds, in user and kernel mode and including threads that
     * have ended.
     */
    static long cpuNanos(long pid) throws IOException {
        String[] fields = stat(pid);
        return ticks(fields, FIELD_UTIME) + ticks(fields, FIELD_STIME);
    }

    /** Returns the processor time of this process and of its children that have ended, in nanoseconds. */
    static long ownAndEndedNanos() throws IOException {
        String[] fields = stat(ProcessHandle.current().pid());
        return ticks(fields, FIELD_UTIME) + ticks(fields, FIELD_STIME) + ticks(fields, FIELD_CUTIME)
            + ticks(fields, FIELD_CSTIME);
    }

    /**
     * Returns the processor time of the current threads of a process in nanoseconds. The result is more precise than that of
     * {@link #cpuNanos}, but it does not include threads that have ended.
     */
    static long threadNanos(long pid) throws IOException {
        long total = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(proc(pid).resolve("task"))) {
            for (Path thread : threads) {
                total += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
            }
        }
        return total;
    }

    /**
     * Returns the time that the processors have been neither idle nor taken away by the hypervisor, summed over all processors.
     */
    static long machineBusyNanos() throws IOException {
        // The fields are: cpu user nice system idle iowait irq softirq steal. The guest time is included in the user time.
        String[] fields = Files.readString(Path.of("/proc/stat")).lines().findFirst().orElseThrow().trim().split(" +");
        long busy = 0;
        for (int i = 1; i <= FIELD_STEAL; i++) {
            if (i != FIELD_IDLE && i != FIELD_IOWAIT) {
                busy += Long.parseLong(fields[i]);
            }
        }
        return busy * TICK_NANOS;
    }

    /**
     * Returns the memory of a process in bytes. A page that n processes have mapped counts as one n-th. Mapped files do not
     * count, because they are programs and libraries, whose share depends on what else runs on the machine.
     */
    static long proportionalBytes(long pid) throws IOException {
        long total = 0;
        int found = 0;
        for (String line : Files.readAllLines(proc(pid).resolve("smaps_rollup"))) {
            if (line.startsWith("Pss_Anon:") || line.startsWith("Pss_Shmem:")) {
                total += Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                found++;
            }
        }
        if (found != 2) {
            throw new IOException("/proc/" + pid + "/smaps_rollup does not say Pss_Anon and Pss_Shmem: Linux 5.4 is needed");
        }
        return total;
    }

    private static Path proc(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }

    /** Returns the fields of {@code /proc/PID/stat} from the third on. */
    private static String[] stat(long pid) throws IOException {
        String stat = Files.readString(proc(pid).resolve("stat"));
        // The second field is the command in parentheses, which may contain any characters.
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    }

    private static long ticks(String[] fields, int field) {
        return Long.parseLong(fields[field - 3]) * TICK_NANOS;
    }
}
