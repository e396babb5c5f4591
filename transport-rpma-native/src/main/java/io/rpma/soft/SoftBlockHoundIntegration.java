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
 * Tells BlockHound where a thread waits on purpose for what another thread or process is about to do, for microseconds, or opens
 * and removes the files of a listener.
 */
public final class SoftBlockHoundIntegration implements BlockHoundIntegration {
    /** Creates the integration; called by BlockHound. */
    public SoftBlockHoundIntegration() {
        // There is nothing to be set.
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
