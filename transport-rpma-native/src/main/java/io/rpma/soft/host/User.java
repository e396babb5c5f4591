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
package io.rpma.soft.host;

import io.rpma.posix.Sockets;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The user of this process, which determines the processes that memory is shared with: those of the same effective user. The
 * kernel reports the process and user at the other end of a Unix socket ({@code SO_PEERCRED}: the user at the time of {@code
 * connect} or {@code listen}), and translates the user's number to the user namespace of this process.
 *
 * <p>Every user that has no number in this namespace is reported as the overflow user, 65534 by default. Unless every user has a
 * number here, as in the initial namespace, the overflow user therefore identifies no particular user, and is refused even if
 * this process itself is reported as it.
 *
 * @param id the effective user of this process
 * @param pid this process
 * @param overflow the number that stands for users without one
 * @param allMapped whether every user has a number in this process's user namespace
 */
public record User(int id, int pid, int overflow, boolean allMapped) {
    private static final int DEFAULT_OVERFLOW = 65_534;
    // All numbers except -1, which means "no user".
    private static final long ALL_USERS = 0xffff_ffffL;

    /** Returns the current effective user of this process. */
    public static User current() {
        return new User(Libc.geteuid(), (int) ProcessHandle.current().pid(), readOverflow(), readAllMapped());
    }

    private static int readOverflow() {
        // The file is read by a single call of read(2): the kernel ends such a file after the first call, and Files.readString
        // reads one byte first.
        try (BufferedReader reader = Files.newBufferedReader(Path.of("/proc/sys/kernel/overflowuid"))) {
            return Integer.parseUnsignedInt(reader.readLine());
        } catch (IOException | NumberFormatException e) {
            return DEFAULT_OVERFLOW;
        }
    }

    private static boolean readAllMapped() {
        try {
            return coversAll(Files.readString(Path.of("/proc/self/uid_map")));
        } catch (IOException e) {
            // The kernel has no user namespaces, or this process has no /proc. The answer false is the safe one.
            return false;
        }
    }

    /** Returns whether a map of user numbers, as {@code /proc/self/uid_map} shows it, leaves out none. */
    public static boolean coversAll(String map) {
        long users = 0;
        for (String line : map.lines().toList()) {
            String[] columns = line.trim().split("\\s+");
            try {
                users += columns.length == 3 ? Long.parseLong(columns[2]) : 0;
            } catch (NumberFormatException e) {
                return false;
            }
        }
        return users >= ALL_USERS;
    }

    /**
     * Returns why memory cannot be shared with the process at the other end of a Unix socket, as the end of a sentence that
     * begins with "it"; {@code null} if it can.
     *
     * @param peer the process as the kernel reports it, {@code null} if it reports none
     */
    public String whyNot(Sockets.Credentials peer) {
        if (peer == null) {
            return "belongs to a user that the kernel does not report, and this process to " + name(id);
        }
        if (peer.uid() != id) {
            return refused(peer, "and this process to user " + Integer.toUnsignedString(id)
                + ": the software provider shares memory with processes of the same user only");
        }
        if (id == overflow && !allMapped && peer.pid() != pid) {
            return refused(peer, "which stands for every user that has no ID in the user namespace of this process, so the"
                + " software provider cannot determine whether it is the user of this process: run both as a user that the"
                + " namespace maps (/proc/self/uid_map)");
        }
        return null;
    }

    private static String refused(Sockets.Credentials peer, String why) {
        return "belongs to " + describe(peer) + ", " + why;
    }

    /** Returns a process and its user as text. */
    public static String describe(Sockets.Credentials peer) {
        return name(peer.uid()) + " (" + process(peer.pid()) + ')';
    }

    /** Returns a process as text. A process in another PID namespace has no number in that of this process. */
    public static String process(int pid) {
        return pid <= 0 ? "a process of another PID namespace" : "process " + pid;
    }

    private static String name(int user) {
        return "user " + Integer.toUnsignedString(user);
    }
}
