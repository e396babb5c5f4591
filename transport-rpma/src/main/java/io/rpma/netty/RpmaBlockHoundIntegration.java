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

package io.rpma.netty;

import io.rpma.netty.connect.HostExecutor;
import io.rpma.netty.connect.LingeringClose;
import io.rpma.netty.loop.RunQueue;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Declares to BlockHound the blocking calls that an event loop of this transport makes on purpose. While the loop is idle it
 * polls for some microseconds before it sleeps ({@link RpmaPolling}); it reads how long it has waited for a processor
 * ({@link RunQueue}); and before it ends it may wait, for a bounded time, until sent data has been delivered. BlockHound finds
 * this class by itself.
 */
public final class RpmaBlockHoundIntegration implements BlockHoundIntegration {
    /** Creates the integration; called by BlockHound. */
    public RpmaBlockHoundIntegration() {
        // Nothing to initialize.
    }

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(RpmaIoHandler.class.getName(), "spinUntilWork")
            .allowBlockingCallsInside(LingeringClose.class.getName(), "destroy")
            .allowBlockingCallsInside(RpmaMessageChannel.class.getName() + "$MessageUnsafe", "lingerNow")
            // Reads a file of the kernel, which is in memory.
            .allowBlockingCallsInside(RunQueue.class.getName(), "ofThisThread")
            .allowBlockingCallsInside(RunQueue.class.getName(), "isCrowded")
            // The pool of the connecting threads has a lock that is held only briefly.
            .allowBlockingCallsInside(HostExecutor.class.getName(), "startAll");
    }
}
