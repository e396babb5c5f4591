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
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of a report, while one benchmark writes it. A second benchmark would delete the logs of the first one, and both
 * would measure each other's load, so only one can have the folder. The lock ends with the process, however it ends.
 */
final class ReportFolder implements AutoCloseable {
    private final Path folder;
    private final FileChannel lock;

    private ReportFolder(Path folder, FileChannel lock) {
        this.folder = folder;
        this.lock = lock;
    }

    /**
     * Creates the folder if it does not exist, and locks it.
     *
     * @throws BusyException if another benchmark has locked it
     */
    static ReportFolder lock(Path folder) throws IOException {
        Files.createDirectories(folder.resolve("logs"));
        FileChannel lock = FileChannel.open(folder.resolveSibling(folder.getFileName() + ".lock"), StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
        boolean locked = false;
        try {
            locked = lock.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            // This process has locked it.
        } finally {
            if (!locked) {
                lock.close();
            }
        }
        if (!locked) {
            throw new BusyException(folder);
        }
        return new ReportFolder(folder, lock);
    }

    /** Returns the folder of the logs of failed runs. */
    Path logs() {
        return folder.resolve("logs");
    }

    /** Deletes the files that an earlier benchmark left. */
    void empty() throws IOException {
        for (Path each : List.of(logs(), folder)) {
            try (Stream<Path> files = Files.list(each)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }

    /** Another benchmark writes its report to the same folder. */
    static final class BusyException extends IOException {
        private static final long serialVersionUID = 1;

        BusyException(Path folder) {
            super("another benchmark is running and will write its report to " + folder + "; run this one when it has ended,"
                + " because both would measure each other's load");
        }
    }
}
