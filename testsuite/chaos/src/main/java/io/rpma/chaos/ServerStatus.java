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
 * What the server holds.
 *
 * @param descriptors that are open
 * @param threads of the process
 * @param usedBytes of registered memory that buffers hold
 * @param mappedBytes of memory files that are mapped, those of peers and its own but for its address ranges
 * @param connections that are open
 */
public record ServerStatus(long descriptors, long threads, long usedBytes, long mappedBytes, long connections) {
    static ServerStatus parse(String text) {
        String[] words = text.split(" ");
        return new ServerStatus(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
            Long.parseLong(words[3]), Long.parseLong(words[4]));
    }

    /** Returns whether it holds nothing that it did not hold before. */
    boolean isNoMoreThan(ServerStatus before) {
        return descriptors <= before.descriptors && threads <= before.threads && usedBytes <= before.usedBytes
            && mappedBytes <= before.mappedBytes && connections <= before.connections;
    }

    /** Returns the same with room for more bytes in use: how many shared receives a crowd leaves is not the same each time. */
    ServerStatus withRoom(long bytes) {
        return new ServerStatus(descriptors, threads, usedBytes + bytes, mappedBytes, connections);
    }

    /** Returns the larger of each figure. */
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
