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

import io.netty.util.Version;
import io.rpma.Rpma;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The environment and the parameters of the measurements as text.
 *
 * @param entries the names and values
 */
record Setting(Map<String, String> entries) {
    static Setting of(Launcher launcher, int rounds) throws IOException {
        return of(launcher, rounds, Rpma.provider().name());
    }

    static Setting of(Launcher launcher, int rounds, String provider) throws IOException {
        Map<String, String> entries = new LinkedHashMap<>();
        entries.put("processor", processor() + ", " + Runtime.getRuntime().availableProcessors() + " usable");
        entries.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
            + System.getProperty("os.arch"));
        entries.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
        entries.put("netty", Version.identify().get("netty-transport").artifactVersion());
        entries.put("provider of RPMA", provider);
        entries.put("options of every JVM", String.join(" ", launcher.jvmOptions()));
        entries.put("ahead-of-time cache", launcher.caches() == null ? "none" : "one for each process, by a training run");
        entries.put("rounds", Integer.toString(rounds));
        entries.put("warm-up of every run", launcher.warmUpMillis() + " ms");
        entries.put("window of every run", launcher.windowMillis() + " ms");
        return new Setting(entries);
    }

    private static String processor() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/cpuinfo"));
        for (String name : List.of("model name", "CPU part")) {
            for (String line : lines) {
                if (line.startsWith(name)) {
                    return line.substring(line.indexOf(':') + 1).trim();
                }
            }
        }
        return "unknown";
    }
}
