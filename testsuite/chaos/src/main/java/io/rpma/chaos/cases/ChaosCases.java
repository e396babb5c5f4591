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

package io.rpma.chaos.cases;

import java.util.List;

/** All cases. */
public final class ChaosCases {
    private ChaosCases() {
    }

    /** Returns all cases, in the order of the table. */
    public static List<ChaosCase> all() {
        return List.of(new KillCase(), new StopCase(false), new StopCase(true), AttackCase.harmingItself("scribble", 11, "soft"),
            new AttackCase("sockets", 6, "soft"), AttackCase.harmingItself("descriptors", 5, "soft"),
            new AttackCase("wire", 11, "tcp"), new AttackCase("frames", 5, "soft", "librpma", "tcp"),
            new AttackCase("violations", 5, "soft", "librpma", "tcp"),
            new LimitsCase(), new StrangerCase());
    }
}
