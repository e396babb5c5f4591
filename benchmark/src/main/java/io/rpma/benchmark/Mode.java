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

/** Where the two ends of a run are. */
enum Mode {
    /** Each end has its own process. */
    TWO_PROCESSES("two", "two processes"),
    /** Both ends are in one process, on different event loops. */
    ONE_PROCESS("one", "one process");

    private final String key;
    private final String title;

    Mode(String key, String title) {
        this.key = key;
        this.title = title;
    }

    /** Returns the name of the mode on the command line. */
    String key() {
        return key;
    }

    String title() {
        return title;
    }
}
