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

import io.rpma.soft.control.FolderNames;
import io.rpma.soft.process.GracePeriod;
import io.rpma.soft.shared.PostedReceives;
import io.rpma.software.Patience;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Declares to BlockHound the methods that block on purpose: they wait some microseconds for an action that another thread or
 * process is about to complete, or they open and remove the files of a listener.
 */
public final class SoftBlockHoundIntegration implements BlockHoundIntegration {
    /** Creates the integration; called by BlockHound. */
    public SoftBlockHoundIntegration() {
        // Nothing to initialize.
    }

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(GracePeriod.class.getName(), "endsAtOnce")
            .allowBlockingCallsInside(FolderNames.class.getName(), "listen")
            .allowBlockingCallsInside(Patience.class.getName(), "pause")
            .allowBlockingCallsInside(QueuePair.class.getName(), "close")
            .allowBlockingCallsInside(PostedReceives.class.getName(), "slotAt");
    }
}
