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
package io.rpma.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Which failures an acknowledged record of a log survives, and how this is achieved. A client receives the ordinal. */
enum LogDurability {
    /** The file is in memory (tmpfs), and peers write to it directly. */
    MEMORY("outlives both processes, not a power cut: the log lies in memory"),
    /** The server copies the data from its peers to its file, and does not wait until the disk has it. */
    PAGE_CACHE("outlives both processes, not a power cut: the server does not wait for its disk"),
    /** The server copies the data from its peers to its file, and waits until the disk has it. */
    DISK("outlives a power cut: the server's disk has the record before it is acknowledged"),
    /** Peers write to persistent memory, and flush it themselves. */
    PERSISTENT_MEMORY("outlives a power cut: the flush makes the record persistent before it is acknowledged");

    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs", "hugetlbfs");

    private final String promise;

    LogDurability(String promise) {
        this.promise = promise;
    }

    /** Returns which durability is possible with an existing file. */
    static LogDurability of(Path file, boolean persistentMemory, boolean sync) throws IOException {
        if (persistentMemory) {
            return PERSISTENT_MEMORY;
        }
        if (IN_MEMORY.contains(Files.getFileStore(file).type())) {
            return MEMORY;
        }
        return sync ? DISK : PAGE_CACHE;
    }

    /** Returns the constant with an ordinal that a server has sent. */
    static LogDurability told(byte ordinal) throws IOException {
        if (ordinal < 0 || ordinal >= values().length) {
            throw new IOException("the server tells of durability " + ordinal + ", which does not exist");
        }
        return values()[ordinal];
    }

    /** Returns whether the server acknowledges the records, because a flush alone is not sufficient. */
    boolean isByServer() {
        return this == PAGE_CACHE || this == DISK;
    }

    @Override
    public String toString() {
        return promise;
    }
}
