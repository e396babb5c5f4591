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

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound what an event loop of this transport does on purpose: while it is idle it polls for some microseconds before
 * it sleeps ({@link RpmaPolling}), it reads how long it has waited for a processor ({@link RunQueue}), and the last thing that
 * it does may be to wait, for a bounded time, until what was sent has been delivered. BlockHound finds this class by itself, and
 * nothing else needs it.
 */
public final class RpmaBlockHoundIntegration implements BlockHoundIntegration {
    /** Creates the integration; called by BlockHound. */
    public RpmaBlockHoundIntegration() {
        // There is nothing to be set.
    }

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(RpmaIoHandler.class.getName(), "spinUntilWork")
            .allowBlockingCallsInside(LingeringClose.class.getName(), "destroy")
            .allowBlockingCallsInside(RpmaMessageChannel.class.getName() + "$MessageUnsafe", "lingerNow")
            // A file of the kernel's, which is in memory.
            .allowBlockingCallsInside(RunQueue.class.getName(), "ofThisThread")
            .allowBlockingCallsInside(RunQueue.class.getName(), "isCrowded")
            // The pool of the connecting threads has a lock, which is held for moments.
            .allowBlockingCallsInside(HostExecutor.class.getName(), "startAll");
    }
}
