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

import io.rpma.posix.Posix;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The memory files of the software provider that this process has mapped, both its own and those of its peer. */
final class Mappings {
    private static final String MARK = "/memfd:rpma-";

    private Mappings() {
    }

    /**
     * A mapped memory file.
     *
     * @param name the name of the file, which describes its purpose
     * @param memory the mapping
     * @param writable whether this process can write to the mapping
     */
    record Mapping(String name, MemorySegment memory, boolean writable) {
        /** Returns a path that root can use to open the file again. */
        String file() {
            return "/proc/self/map_files/" + Long.toHexString(memory.address()) + '-'
                + Long.toHexString(memory.address() + memory.byteSize());
        }

        /** Tries to make the mapping writable. Returns whether it is writable now. */
        boolean makeWritable() {
            return Posix.mprotect(memory.address(), memory.byteSize(), Posix.PROT_READ | Posix.PROT_WRITE) == 0;
        }
    }

    static List<Mapping> now() throws IOException {
        List<Mapping> found = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            int at = line.indexOf(MARK);
            if (at >= 0) {
                String[] words = line.split(" ");
                String[] ends = words[0].split("-");
                long from = Long.parseUnsignedLong(ends[0], 16);
                String name = line.substring(at + MARK.length()).split(" ")[0];
                found.add(new Mapping(name, MemorySegment.ofAddress(from).reinterpret(
                    Long.parseUnsignedLong(ends[1], 16) - from), words[1].charAt(1) == 'w'));
            }
        }
        return found;
    }
}
