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

/**
 * The resources that the server uses.
 *
 * @param descriptors the number of open descriptors
 * @param threads the number of threads
 * @param usedBytes the size of the registered memory that buffers use, without cached buffers and receives that nobody needs
 * @param mappedBytes the size of the mapped memory files, both those of peers and its own, without the server's address ranges
 * @param connections the number of open connections
 */
public record ServerStatus(long descriptors, long threads, long usedBytes, long mappedBytes, long connections) {
    static ServerStatus parse(String text) {
        String[] words = text.split(" ");
        return new ServerStatus(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
            Long.parseLong(words[3]), Long.parseLong(words[4]));
    }

    /** Returns whether the server uses no more resources than before. */
    boolean isNoMoreThan(ServerStatus before) {
        return descriptors <= before.descriptors && threads <= before.threads && usedBytes <= before.usedBytes
            && mappedBytes <= before.mappedBytes && connections <= before.connections;
    }

    /** Returns a copy that allows for more bytes in use. */
    ServerStatus withRoom(long bytes) {
        return new ServerStatus(descriptors, threads, usedBytes + bytes, mappedBytes, connections);
    }

    /** Returns the larger value of each figure. */
    ServerStatus atLeast(ServerStatus other) {
        return new ServerStatus(Math.max(descriptors, other.descriptors), Math.max(threads, other.threads),
            Math.max(usedBytes, other.usedBytes), Math.max(mappedBytes, other.mappedBytes),
            Math.max(connections, other.connections));
    }

    @Override
    public String toString() {
        return descriptors + " descriptors, " + threads + " threads, " + usedBytes + " bytes of registered memory, "
            + mappedBytes + " bytes mapped, " + connections + " connections";
    }
}
