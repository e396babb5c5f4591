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

package io.rpma.chaos.hostile;

import io.rpma.chaos.Addresses;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Attacks everything that it shares with the server by the operations that a process can perform on a descriptor: flags, modes,
 * sizes, holes, seals, socket options, full and empty pipes. It uses the pipes of doorbells, the end of the link that it sends to
 * the server and of which it keeps a duplicate, and, as root, the memory files of both processes, which it opens again through
 * the mappings.
 */
final class Descriptors implements Attack {
    private static final Path OWN = Path.of("/proc/self/fd");
    private static final int ROUNDS = 20;
    private static final int STANDARD = 3;
    private static final int CATCHES = 64;

    private final List<Integer> caught = new ArrayList<>();
    private SplittableRandom random;
    private volatile boolean catching;
    private int connections;
    private int pipes;
    private int memory;
    private int sockets;

    @Override
    public void run(Addresses addresses, SplittableRandom from, long end) throws Exception {
        random = from;
        Garbage garbage = new Garbage(random, ListenerNames.version(ListenerNames.of(addresses.streamPort()).getFirst()));
        Report.say("ready");
        OwnSockets own = new OwnSockets(addresses);
        do {
            catching = true;
            Thread catcher = Thread.ofPlatform().daemon().start(this::catchSockets);
            boolean connected = own.connect();
            catching = false;
            catcher.join();
            connections += connected ? 1 : 0;
            int before = pipes + memory + sockets;
            for (int round = 0; round < ROUNDS && connected; round++) {
                for (String pipe : pipes()) {
                    pipes += attackPipe(pipe);
                }
                own.touch();
            }
            if (connected && DescriptorCalls.isRoot()) {
                for (Mappings.Mapping mapping : Mappings.now()) {
                    memory += attackMemory(mapping);
                }
            }
            for (int socket : caught) {
                sockets += attackSocket(socket, garbage);
            }
            own.touch();
            caught.forEach(Posix::close);
            caught.clear();
            Report.say("count " + (pipes + memory + sockets - before));
            own.close();
        } while (System.nanoTime() < end);
        Report.say("did " + connections + " connections, " + pipes + " attacks on pipes, " + memory + " on memory, " + sockets
            + " on sockets");
        if (connections > 0 && (pipes == 0 || sockets == 0 || DescriptorCalls.isRoot() && memory == 0)) {
            Report.say("wrong a kind of descriptors that this process shares with the server was not found");
        }
    }

    /**
     * Keeps a duplicate of each Unix socket that this process has while it connects. Some of these sockets are sent to the
     * server.
     */
    private void catchSockets() {
        while (catching && caught.size() < CATCHES) {
            for (int fd : Sockets.own()) {
                int second = DescriptorCalls.duplicate(fd);
                if (second >= 0) {
                    caught.add(second);
                }
                if (caught.size() == CATCHES) {
                    break;
                }
            }
        }
    }

    /** Returns the paths of the pipes of this process that are not its standard streams. */
    private static List<String> pipes() throws IOException {
        Set<Path> standard = new java.util.HashSet<>();
        for (int fd = 0; fd < STANDARD; fd++) {
            standard.add(Files.readSymbolicLink(OWN.resolve(String.valueOf(fd))));
        }
        List<String> found = new ArrayList<>();
        for (String name : OWN.toFile().list()) {
            try {
                Path target = Files.readSymbolicLink(OWN.resolve(name));
                if (target.toString().startsWith("pipe:") && !standard.contains(target)) {
                    found.add(OWN.resolve(name).toString());
                }
            } catch (NoSuchFileException e) {
                // This is the descriptor that was used to list the directory.
                continue;
            }
        }
        return found;
    }

    private int attackPipe(String path) {
        int fd = DescriptorCalls.open(path, DescriptorCalls.O_RDWR);
        if (fd < 0) {
            return 0;
        }
        switch (random.nextInt(6)) {
            case 0 -> DescriptorCalls.flags(fd, random.nextBoolean() ? 0 : random.nextInt());
            case 1 -> DescriptorCalls.mode(fd, random.nextInt(8) << 6);
            case 2 -> DescriptorCalls.pipeSize(fd, 1 << random.nextInt(12, 21));
            case 3 -> DescriptorCalls.fill(fd);
            case 4 -> DescriptorCalls.drain(fd);
            default -> DescriptorCalls.truncate(fd, random.nextInt(5000));
        }
        Posix.close(fd);
        return 1;
    }

    /** Checks that the size of a memory file cannot be changed, and that memory that is shared for reading cannot be cleared. */
    private int attackMemory(Mappings.Mapping mapping) {
        if (mapping.name().startsWith("range")) {
            // All processes of the user have access to this file by design.
            return 0;
        }
        int fd = DescriptorCalls.open(mapping.file(), DescriptorCalls.O_RDWR);
        if (fd < 0) {
            return 0;
        }
        long size = mapping.memory().byteSize();
        if (DescriptorCalls.truncate(fd, random.nextLong(size)) || DescriptorCalls.truncate(fd, size + 4096)) {
            Report.say("wrong the size of shared memory can be changed: " + mapping.name());
        }
        if (DescriptorCalls.seal(fd, 1 << random.nextInt(5))) {
            Report.say("wrong shared memory can be sealed: " + mapping.name());
        }
        boolean punched = random.nextInt(4) == 0 && DescriptorCalls.punch(fd, random.nextLong(size / 4096) * 4096, 4096);
        if (punched && !mapping.writable()) {
            Report.say("wrong what the server shares for reading can be emptied: " + mapping.name());
        }
        DescriptorCalls.mode(fd, 0);
        DescriptorCalls.flags(fd, random.nextInt());
        Posix.close(fd);
        return 1;
    }

    private int attackSocket(int fd, Garbage garbage) {
        switch (random.nextInt(6)) {
            case 0 -> DescriptorCalls.flags(fd, 0);
            case 1 -> DescriptorCalls.socketOption(fd, DescriptorCalls.SO_PASSCRED, 1);
            case 2 -> DescriptorCalls.socketOption(fd, DescriptorCalls.SO_PASSPIDFD, 1);
            case 3 -> DescriptorCalls.socketOption(fd, DescriptorCalls.SO_PEEK_OFF, random.nextInt(100));
            case 4 -> {
                DescriptorCalls.socketOption(fd, DescriptorCalls.SO_RCVBUF, 0);
                DescriptorCalls.socketOption(fd, DescriptorCalls.SO_SNDBUF, 0);
            }
            default -> DescriptorCalls.receive(fd);
        }
        int file = UnixSocket.memoryFile(4096, 0);
        int count = random.nextInt(1, 100);
        int[] files = new int[count];
        java.util.Arrays.fill(files, file);
        UnixSocket.send(fd, garbage.bytes(), random.nextBoolean() ? 0 : garbage.next(count), files);
        Posix.close(file);
        return 2;
    }
}
