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
package io.rpma;

/** How much longer than on an ordinary machine the tests wait. */
public final class TestPatience {
    /** A factor for the timeouts, from the environment. An emulated machine needs a larger one than 1. */
    public static final int FACTOR = Integer.parseInt(System.getenv().getOrDefault("RPMA_TEST_PATIENCE", "1"));

    private TestPatience() {
    }
}
