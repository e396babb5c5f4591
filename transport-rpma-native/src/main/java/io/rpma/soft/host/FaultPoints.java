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

import java.util.function.Consumer;

/** Fault injection points, at which a test ends or stops a process. Eliminated unless {@code -Dio.rpma.soft.faults=true}. */
public final class FaultPoints {
    /** Whether the fault injection points are active. */
    public static final boolean ENABLED = Boolean.getBoolean("io.rpma.soft.faults");

    private static volatile Consumer<String> hook = place -> { };

    private FaultPoints() {
    }

    /** Sets the action that runs at every fault injection point. */
    public static void hook(Consumer<String> action) {
        hook = action;
    }

    /** Runs the action for a fault injection point. */
    public static void at(String place) {
        hook.accept(place);
    }
}
