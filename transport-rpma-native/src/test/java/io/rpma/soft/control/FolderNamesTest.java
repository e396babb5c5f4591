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
package io.rpma.soft.control;

import io.rpma.TestPatience;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.User;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the names of several processes in one shared folder. Each thread is one of the processes. */
@Timeout(120)
class FolderNamesTest {
    @TempDir
    private Path folder;

    /** Many processes start at once in a folder where dead processes have left files, and each of them gets its name. */
    @Test
    void processesThatStartAtOnceDoNotRemoveEachOther() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwx---"));
        SharedFolder shared = SharedFolder.open(folder.toString());
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 4; i++) {
            int first = 10_000 + 100 * i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    FolderNames names = new FolderNames(shared, User.current(), TestPatience.FACTOR * FolderNames.REMOVAL_NANOS);
                    for (int j = 0; j < 100; j++) {
                        InetSocketAddress address = new InetSocketAddress("127.0.0.1", first + j);
                        Files.writeString(folder.resolve(names.listener(address)), "left over");
                        ListeningSocket socket = names.listen(address, 16);
                        assertTrue(names.exists(socket.name()));
                        socket.close();
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), failures);
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }
}
