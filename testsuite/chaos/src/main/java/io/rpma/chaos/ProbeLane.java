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

package io.rpma.chaos;

/** A lane that makes new connections, one after another. Each of them sends one piece of a stream and receives it back. */
final class ProbeLane extends StreamLane {
    ProbeLane(String name, Addresses addresses, RunDelay server, long restMillis) {
        super(name, addresses.path(), addresses.stream(), 1, 1024, server, restMillis);
    }

    @Override
    boolean connectsEachTime() {
        return true;
    }

    @Override
    void complete() {
        forget();
        answered();
    }
}
