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

/**
 * Writes the messages of the agent to the standard error stream, because the agent runs before the application has configured a
 * logger.
 */
final class Log {
    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private Log() {
    }

    static void say(String line) {
        System.err.println("rpma-agent: " + line);
    }

    /** Writes the message only if it has not been written before. */
    static void once(String line) {
        if (SAID.add(line)) {
            say(line);
        }
    }

    /** Writes a message about a failure, with the stack trace if the message has not been written before. */
    static void failed(String line, Throwable cause) {
        if (SAID.add(line)) {
            say(line + ": " + cause);
            cause.printStackTrace();
        }
    }
}
