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
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests with which processes memory is shared. */
class UserTest {
    private static final int OVERFLOW = 65_534;
    private static final int PID = 4711;

    private static String whyNot(int own, boolean allMapped, int peer, int pid) {
        return new User(own, PID, OVERFLOW, allMapped).whyNot(new Sockets.Credentials(pid, peer));
    }

    @Test
    void onlyTheSameUserWillDo() {
        assertNull(whyNot(1000, true, 1000, 1));
        assertNull(whyNot(0, true, 0, 1));
        assertNull(whyNot(1000, false, 1000, 1));
        assertTrue(whyNot(1000, true, 1001, 12).startsWith("belongs to user 1001 (process 12), and this process to user 1000"));
        assertNotNull(whyNot(0, true, 1000, 1), "root shares nothing with another user");
        assertNotNull(whyNot(1000, true, 0, 1), "no user shares anything with root");
        assertNotNull(whyNot(1000, true, -1, 0));
        assertNotNull(new User(1000, PID, OVERFLOW, true).whyNot(null));
    }

    @Test
    void aUserWithoutANumberIsNobodyInParticular() {
        assertNotNull(whyNot(0, false, OVERFLOW, 1));
        String why = whyNot(OVERFLOW, false, OVERFLOW, 1);
        assertTrue(why.contains("/proc/self/uid_map"), why);
        assertNull(whyNot(OVERFLOW, false, OVERFLOW, PID), "this process is the same user as itself");
        assertNull(whyNot(OVERFLOW, true, OVERFLOW, 1), "the user without a number is unknown where all users have numbers");
    }

    @Test
    void whetherEveryUserHasANumberIsInTheMap() {
        assertTrue(User.coversAll("         0          0 4294967295\n"));
        assertFalse(User.coversAll("         0       1000          1\n"));
        assertFalse(User.coversAll("         0       1000          1\n         1     100000      65536\n"));
        assertFalse(User.coversAll(""), "a namespace without a map has no user with a number");
        assertFalse(User.coversAll("0 0 many"));
        assertTrue(User.coversAll("0 0 65536\n65536 65536 4294901759\n"));
    }

    @Test
    void theOverflowUserIsAsTheKernelSays() throws Exception {
        try (BufferedReader reader = Files.newBufferedReader(Path.of("/proc/sys/kernel/overflowuid"))) {
            assertEquals(reader.readLine(), Integer.toUnsignedString(User.current().overflow()));
        }
    }

    @Test
    void aProcessIsNamedWithItsUser() {
        assertEquals("user 4294967295 (a process of another PID namespace)", User.describe(new Sockets.Credentials(0, -1)));
    }
}
