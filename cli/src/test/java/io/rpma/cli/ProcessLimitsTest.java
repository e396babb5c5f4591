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
package io.rpma.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rpma.cli.Report.LockedMemory;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessLimitsTest {
    private static LockedMemory read(String limits, String capabilities) {
        return ProcessLimits.lockedMemory(List.of(
            "Limit                     Soft Limit           Hard Limit           Units     ",
            "Max processes             95869                95869                processes ",
            "Max locked memory         " + limits + "             bytes     ",
            "Max file locks            unlimited            unlimited            locks     "),
            List.of("CapPrm:\t000001ffffffffff", "CapEff:\t" + capabilities));
    }

    @Test
    void limitsAndTheRightToPassThem() {
        assertEquals(new LockedMemory(65536L, 8388608L, false), read("65536                8388608", "0000000000000000"));
        assertEquals(new LockedMemory(8388608L, null, true), read("8388608              unlimited", "0000000000004000"));
        assertEquals(new LockedMemory(null, null, true), read("unlimited            unlimited", "000001ffffffffff"));
        assertEquals(new LockedMemory(null, null, false), read("unlimited            unlimited", "000001ffffffbfff"));
    }

    @Test
    void ofThisProcess() throws Exception {
        LockedMemory memory = ProcessLimits.lockedMemory();
        assertEquals(true, memory.hardBytes() == null || memory.softBytes() <= memory.hardBytes(), memory::toString);
    }
}
