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
package io.rpma.contract;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Checks that no test class leaves descriptors open. It counts the kinds that a provider opens (sockets, event and completion
 * channels, shared memory, RDMA devices). Files and pipes belong to the virtual machine and are not counted.
 */
final class DescriptorCheck implements BeforeAllCallback, AfterAllCallback {
    private static boolean warm;

    private Map<String, Integer> before;

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        if (!warm) {
            // Descriptors that stay open until the process ends are opened with the first connection or the first wait.
            try (Pair pair = Pair.with().connect()) {
                pair.exchange();
                pair.client.waitForEvent(Duration.ofNanos(1));
            }
            warm = true;
        }
        before = count();
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        assertEquals(Map.of(), surplus(before), "descriptors left open by " + context.getDisplayName());
    }

    /**
     * Returns how many more descriptors of each kind are open than before. There may be fewer: a socket of an earlier test can be
     * closed in the meantime.
     */
    static Map<String, Integer> surplus(Map<String, Integer> before) throws IOException {
        Map<String, Integer> surplus = new TreeMap<>();
        count().forEach((kind, count) -> {
            int more = count - before.getOrDefault(kind, 0);
            if (more > 0) {
                surplus.put(kind, more);
            }
        });
        return surplus;
    }

    /** Returns the number of open descriptors by kind. */
    static Map<String, Integer> count() throws IOException {
        Map<String, Integer> kinds = new TreeMap<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                String kind;
                try {
                    kind = kind(Files.readSymbolicLink(descriptor).toString());
                } catch (NoSuchFileException e) {
                    continue; // The file was closed after the folder had been listed; it is the descriptor of the listing.
                }
                if (kind != null) {
                    kinds.merge(kind, 1, Integer::sum);
                }
            }
        }
        return kinds;
    }

    private static String kind(String link) {
        if (link.startsWith("socket:")) {
            return "socket";
        }
        if (link.startsWith("/memfd:")) {
            return "memfd";
        }
        return link.startsWith("anon_inode:") || link.startsWith("/dev/infiniband/") ? link : null;
    }
}
