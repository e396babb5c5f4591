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

import io.rpma.RpmaException;
import io.rpma.TestPatience;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.User;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
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

    /** A process that removes the remains of a name may have to wait for a processor while it has the lock of the name. */
    @Test
    void aSlowRemovalIsWaitedFor() throws Exception {
        SharedFolder shared = SharedFolder.open(folder.toString());
        FolderNames names = new FolderNames(shared, User.current(), TestPatience.FACTOR * FolderNames.REMOVAL_NANOS);
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", 10_000);
        String name = names.listener(address);
        int lock = shared.lock(name);
        assertTrue(lock >= 0);
        CompletableFuture<ListeningSocket> listening = new CompletableFuture<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread thread = Thread.ofPlatform().start(() -> {
            Thread.currentThread().interrupt();
            try {
                listening.complete(names.listen(address, 16));
            } catch (Throwable e) {
                listening.completeExceptionally(e);
            }
            interrupted.set(Thread.interrupted());
        });
        // A machine with a processor quota stops a process for up to 100 ms in each period. No event tells that time has passed.
        assertThrows(TimeoutException.class, () -> listening.get(300, TimeUnit.MILLISECONDS));
        shared.unlock(name, lock);
        ListeningSocket socket = listening.get();
        assertTrue(names.exists(socket.name()));
        socket.close();
        thread.join();
        assertTrue(interrupted.get(), "the interrupt must not be lost");
    }

    /** A program that removes old files may delete the folder, and the administrator creates it again. */
    @Test
    void aFolderThatIsCreatedAgainIsUsed() throws Exception {
        Path place = Files.createDirectory(folder.resolve("place"));
        FolderNames listening = new FolderNames(SharedFolder.open(place.toString()), User.current());
        FolderNames connecting = new FolderNames(SharedFolder.open(place.toString()), User.current());
        InetSocketAddress address = new InetSocketAddress("127.0.0.1", 10_000);
        ListeningSocket old = listening.listen(address, 16);
        assertTrue(connecting.exists(old.name()));
        try (Stream<Path> files = Files.list(place)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(place);
        for (Executable use : List.<Executable>of(() -> listening.listen(address, 16), () -> connecting.exists(old.name()))) {
            RpmaException failure = assertThrows(RpmaException.class, use);
            assertTrue(failure.getMessage().contains(place + " cannot be used: No such file or directory; create it"),
                failure.getMessage());
        }
        Files.createDirectory(place);
        ListeningSocket now = listening.listen(address, 16);
        assertTrue(connecting.exists(now.name()));
        // The files of the old listener were in the old folder.
        old.close();
        assertTrue(connecting.exists(now.name()));
        now.close();
        assertFalse(connecting.exists(now.name()));
        try (Stream<Path> files = Files.list(place)) {
            assertEquals(List.of(), files.toList());
        }
    }

    /** The other end of a cached route is found in the new folder by the first attempt. */
    @Test
    void aSocketIsConnectedToInAFolderThatIsCreatedAgain() throws Exception {
        Path place = Files.createDirectory(folder.resolve("place"));
        FolderNames connecting = new FolderNames(SharedFolder.open(place.toString()), User.current());
        Files.delete(place);
        Files.createDirectory(place);
        FolderNames listening = new FolderNames(SharedFolder.open(place.toString()), User.current());
        int fd = AbstractNames.newSocket(Sockets.SOCK_SEQPACKET);
        ListeningSocket socket = listening.listen(new InetSocketAddress("127.0.0.1", 10_000), 16);
        try {
            assertEquals(0, connecting.connect(fd, socket.name()));
        } finally {
            Posix.close(fd);
            socket.close();
        }
    }
}
