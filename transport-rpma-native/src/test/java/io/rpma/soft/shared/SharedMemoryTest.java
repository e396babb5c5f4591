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
package io.rpma.soft.shared;

import io.rpma.posix.Memory;
import io.rpma.posix.Posix;
import io.rpma.soft.host.Libc;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests what a peer can do with a memory file that it has received. */
class SharedMemoryTest {
    private static final int EACCES = 13;
    private static final int SIZE = 8192;
    private static final int WRITE = Posix.PROT_READ | Posix.PROT_WRITE;

    private SharedMemory memory;

    @AfterEach
    void release() {
        memory.release();
    }

    private static long map(int fd, int protection) {
        return Posix.mmap(0, SIZE, protection, Posix.MAP_SHARED, fd, 0);
    }

    @Test
    void memoryThatIsReadOnlyForPeersCannotBeWrittenByADescriptorOfIt() throws Exception {
        memory = SharedMemory.create("rpma-test", SIZE, true);
        Memory.putLong(memory.address(), 4711);
        assertEquals(-Posix.EPERM, map(memory.fd(), WRITE));
        assertEquals(-Posix.EPERM, Libc.fallocate(memory.fd(), Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE, 0, SIZE));
        long copy = map(memory.fd(), Posix.PROT_READ);
        assertTrue(copy > 0);
        assertEquals(4711, Memory.getLong(copy));
        assertEquals(-EACCES, Posix.mprotect(copy, SIZE, WRITE), "a read-only mapping must not become writable");
        Memory.putLong(memory.address(), 4712);
        assertEquals(4712, Memory.getLong(copy), "the owner can still write");
        Posix.munmap(copy, SIZE);
    }

    @Test
    void memoryThatIsReadOnlyForPeersCannotBeWrittenAfterItHasBeenOpenedAnew() throws Exception {
        memory = SharedMemory.create("rpma-test", SIZE, true);
        try (FileChannel again = open(StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            assertThrows(IOException.class, () -> again.map(FileChannel.MapMode.READ_WRITE, 0, SIZE));
            assertThrows(IOException.class, () -> again.write(ByteBuffer.allocate(1), 0));
            assertThrows(IOException.class, () -> again.truncate(0));
            assertEquals(SharedMemory.roundUp(SIZE), again.size());
        }
    }

    @Test
    void memoryForPeersCanBeWrittenByThem() throws Exception {
        memory = SharedMemory.create("rpma-test", SIZE);
        long copy = map(memory.fd(), WRITE);
        Memory.putLong(copy, 4711);
        assertEquals(4711, Memory.getLong(memory.address()));
        Posix.munmap(copy, SIZE);
        try (FileChannel again = open(StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            assertThrows(IOException.class, () -> again.truncate(0), "the size is fixed");
        }
    }

    @Test
    void theTableOfRegionsIsReadOnlyForPeers() throws Exception {
        RegionTable table = new RegionTable();
        memory = table.memory();
        assertEquals(-Posix.EPERM, map(memory.fd(), WRITE));
        int key = table.enter(1, 4096, 64, RegionTable.FOREIGN, 0, 1);
        long copy = map(memory.fd(), Posix.PROT_READ);
        assertEquals(64, RegionTable.read(copy, key).length());
        Posix.munmap(copy, SIZE);
    }

    private FileChannel open(StandardOpenOption... options) throws IOException {
        return FileChannel.open(Path.of("/proc/self/fd/" + memory.fd()), options);
    }
}
