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
package io.rpma.soft.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether the kernel promises more memory than it has ({@code /proc/sys/vm/overcommit_memory}). */
public final class Overcommit {
    /** Whether memory must be allocated before it is promised (mode 2). */
    public static final boolean FORBIDDEN = read();

    private Overcommit() {
    }

    private static boolean read() {
        try {
            return Files.readString(Path.of("/proc/sys/vm/overcommit_memory")).trim().equals("2");
        } catch (IOException e) {
            // Not readable in some containers; the default of every distribution is to overcommit.
            return false;
        }
    }
}
