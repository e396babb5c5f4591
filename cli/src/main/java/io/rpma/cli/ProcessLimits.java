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
package io.rpma.cli;

import io.rpma.cli.Report.LockedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads from {@code /proc} how much memory this process may lock. This also works without native access. */
final class ProcessLimits {
    private static final int CAP_IPC_LOCK = 14;

    private ProcessLimits() {
    }

    static LockedMemory lockedMemory() throws IOException {
        Path self = Path.of("/proc/self");
        return lockedMemory(Files.readAllLines(self.resolve("limits")), Files.readAllLines(self.resolve("status")));
    }

    static LockedMemory lockedMemory(List<String> limits, List<String> status) {
        String[] words = find(limits, "Max locked memory").split("\\s+");
        long capabilities = Long.parseUnsignedLong(find(status, "CapEff:"), 16);
        return new LockedMemory(limit(words[0]), limit(words[1]), (capabilities >>> CAP_IPC_LOCK & 1) != 0);
    }

    private static Long limit(String word) {
        return word.equals("unlimited") ? null : Long.valueOf(word);
    }

    private static String find(List<String> lines, String beginning) {
        return lines.stream().filter(line -> line.startsWith(beginning)).findFirst()
            .orElseThrow(() -> new IllegalStateException("no line '" + beginning + "' in /proc/self"))
            .substring(beginning.length()).strip();
    }
}
