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

import java.util.OptionalLong;

/**
 * What both ends of a run have used.
 *
 * @param cpuNanos the processor time in nanoseconds, in user and kernel mode
 * @param systemCalls the number of system calls, if they are counted
 */
record Usage(long cpuNanos, OptionalLong systemCalls) {
    Usage minus(Usage before) {
        return new Usage(cpuNanos - before.cpuNanos, systemCalls.isEmpty() ? systemCalls
            : OptionalLong.of(systemCalls.getAsLong() - before.systemCalls.getAsLong()));
    }
}
