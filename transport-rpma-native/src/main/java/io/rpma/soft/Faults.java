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
package io.rpma.soft;

import java.util.function.Consumer;

/** Places at which a test lets a process die or stop. Compiled away unless {@code -Dio.rpma.soft.faults=true}. */
final class Faults {
    /** Whether the places are looked at. */
    static final boolean ENABLED = Boolean.getBoolean("io.rpma.soft.faults");

    private static volatile Consumer<String> hook = place -> { };

    private Faults() {
    }

    /** Sets what happens at a place. */
    static void hook(Consumer<String> action) {
        hook = action;
    }

    /** Comes to a place. */
    static void at(String place) {
        hook.accept(place);
    }
}
