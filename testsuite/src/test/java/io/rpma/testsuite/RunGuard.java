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
package io.rpma.testsuite;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.List;

/** Fails each test class after which a leaked buffer is found, or after which RPMA traffic on the same loops has stopped. */
public final class RunGuard implements AfterAllCallback {
    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        BackgroundTraffic.assertFlows();
        if (CountingLeakDetectors.active()) {
            List<String> leaks = CountingLeakDetectors.drain();
            if (!leaks.isEmpty()) {
                throw new AssertionError(leaks.size() + " leaks reported by " + context.getDisplayName() + ", the first: "
                    + leaks.getFirst());
            }
        }
    }
}
