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

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs each method of {@link Interleavings} in a separate process. */
@Timeout(60)
class InterleavingsTest {
    private static Child child;

    @BeforeAll
    static void start() throws Exception {
        child = Child.interleavings();
        child.expect("ready");
    }

    @AfterAll
    static void end() {
        child.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"newsForTheHolderOfTheLock", "roomButNoReceive", "roomIsKnownBeforeAReceive",
        "flushWhileThePeerIsBusy", "failureWhileItBecomesReady", "flushBeforeThePeerIsTold",
        "failureWakesWhoWaitsForASharedReceive",
        "closingWhileAnotherThreadFails", "revivedAndDetachedAtOnce", "faultOfARingThatLeavesTheList", "readyBeforeItIsComplete",
        "lengthIsReadOnce", "detachingKeepsTheQueue", "tellingIsBusy", "noLateAnnouncement", "unmappingWaitsForTheOwnThreads",
        "wakingWhoFollowsAtAnIndex", "failingWakesWhoFollowsAtAnIndex", "aReceiveWakesOneOfThoseThatWait",
        "aLockFileThatCannotBeOpenedToOthers"})
    void doesNoHarm(String name) throws Exception {
        child.order(name);
        child.expect("ok");
    }
}
