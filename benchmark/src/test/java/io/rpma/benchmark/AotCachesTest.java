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

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Creates an ahead-of-time cache by a training run, and uses it. */
class AotCachesTest {
    @TempDir
    private Path folder;

    @Test
    void aRunUsesTheCacheOfItsTraining() throws Exception {
        AotCaches caches = AotCaches.in(folder.resolve("aot"), 100);
        Launcher launcher = new Launcher(100, 1000, List.of("--enable-native-access=ALL-UNNAMED", "-Dio.rpma.provider=soft"),
            folder.resolve("logs"), null, caches);
        // The option that a measured process has makes it fail if it cannot use the cache.
        Outcome outcome = launcher.run(Rival.RPMA, Measurement.named("rtt64"), Mode.ONE_PROCESS, 1);
        assertTrue(outcome.values().get(Metric.RATE) > 0, outcome::format);
        assertTrue(Files.size(folder.resolve("aot/rtt64-rpma-one-both.aot")) > 0);
    }

    @Test
    void theClassPathConsistsOfJars() throws Exception {
        AotCaches caches = AotCaches.in(folder.resolve("aot"), 100);
        boolean found = false;
        for (String entry : caches.classPath().split(File.pathSeparator)) {
            try (JarFile jar = new JarFile(entry)) {
                found |= jar.getEntry(Peer.class.getName().replace('.', '/') + ".class") != null;
            }
        }
        assertTrue(found, caches.classPath());
    }
}
