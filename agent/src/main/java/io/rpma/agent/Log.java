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

package io.rpma.agent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What the agent says, on the standard error stream: it runs before the application has set up a logger. */
final class Log {
    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private Log() {
    }

    static void say(String line) {
        System.err.println("rpma-agent: " + line);
    }

    /** Says it the first time only. */
    static void once(String line) {
        if (SAID.add(line)) {
            say(line);
        }
    }

    /** Tells of a failure, the first time with its stack. */
    static void failed(String line, Throwable cause) {
        if (SAID.add(line)) {
            say(line + ": " + cause);
            cause.printStackTrace();
        }
    }
}
