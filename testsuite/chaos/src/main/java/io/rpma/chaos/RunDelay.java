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

package io.rpma.chaos;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long a thread of this process or of another one was ready to run without having a processor, according to the kernel. This
 * is the delay that the load of the machine caused, regardless of what the thread does. It is zero if the kernel does not provide
 * the value. Thread-safe: the event loops of all neighbours of a process read the delay of the server.
 */
final class RunDelay {
    private static final Map<String, RunDelay> OPEN = new ConcurrentHashMap<>();

    private final ByteBuffer text = ByteBuffer.allocate(96);
    private final FileChannel file;

    private RunDelay(FileChannel file) {
        this.file = file;
    }

    /** Returns the file of the calling thread. */
    static String ofThisThread() {
        return "/proc/" + ProcessHandle.current().pid() + "/task/" + Signals.threadId() + "/schedstat";
    }

    /** Opens the file of a thread. The file stays open until this process ends. */
    static RunDelay of(String path) {
        return OPEN.computeIfAbsent(path, RunDelay::open);
    }

    @SuppressWarnings("resource")
    private static RunDelay open(String path) {
        try {
            return new RunDelay(new RandomAccessFile(path, "r").getChannel());
        } catch (IOException e) {
            return new RunDelay(null);
        }
    }

    /** Returns the total delay so far in nanoseconds. */
    synchronized long nanos() {
        if (file == null) {
            return 0;
        }
        try {
            text.clear();
            int length = file.read(text, 0);
            long value = 0;
            int field = 0;
            for (int i = 0; i < length && field < 2; i++) {
                byte digit = text.get(i);
                if (digit == ' ') {
                    field++;
                } else if (field == 1) {
                    value = value * 10 + digit - '0';
                }
            }
            return value;
        } catch (IOException e) {
            // The thread has ended.
            return 0;
        }
    }
}
