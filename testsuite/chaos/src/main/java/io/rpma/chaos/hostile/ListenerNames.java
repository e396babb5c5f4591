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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The abstract names of the software provider's listeners, which every process can read in {@code /proc}. */
final class ListenerNames {
    private static final String PREFIX = "@io.rpma.soft/";

    private ListenerNames() {
    }

    /** Returns the names for one port. */
    static List<String> of(int port) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/net/unix"))) {
            return lines.filter(line -> line.contains(PREFIX) && line.contains("/listen/"))
                .map(line -> line.substring(line.indexOf(PREFIX) + 1)).filter(name -> name.contains("/" + port))
                .distinct().toList();
        }
    }

    /** Returns the version of the protocol that a name contains. */
    static int version(String name) {
        return Integer.parseInt(name.split("/")[1]);
    }
}
