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

/** Makes the fault points of the software provider accessible to hostile processes. */
public final class FaultPlaces {
    private FaultPlaces() {
    }

    /** Sets the action that runs at each place. Requires {@code -Dio.rpma.soft.faults=true}. */
    public static void hook(Consumer<String> action) {
        Faults.hook(action);
    }
}
