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
package io.rpma.software;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.SharedReceiveQueueConfig;

/** A configuration of shared receive queues. */
public final class SharedReceiveQueueSettings implements SharedReceiveQueueConfig {
    private final SoftwareLog log;
    private volatile int receives = 20;
    private volatile int completions = 20;
    private volatile boolean closed;

    /** Creates a configuration with librpma's defaults. */
    public SharedReceiveQueueSettings(SoftwareLog log) {
        this.log = log;
    }

    private SharedReceiveQueueSettings open() throws RpmaException {
        if (closed) {
            throw log.failure(RpmaError.INVALID, "the shared receive queue configuration is closed");
        }
        return this;
    }

    @Override
    public int receiveQueueSize() throws RpmaException {
        return open().receives;
    }

    @Override
    public SharedReceiveQueueConfig receiveQueueSize(int size) throws RpmaException {
        open().receives = ConnectionSettings.notNegative(log, "receiveQueueSize", size);
        return this;
    }

    @Override
    public int receiveCompletionQueueSize() throws RpmaException {
        return open().completions;
    }

    @Override
    public SharedReceiveQueueConfig receiveCompletionQueueSize(int size) throws RpmaException {
        open().completions = ConnectionSettings.notNegative(log, "receiveCompletionQueueSize", size);
        return this;
    }

    @Override
    public void close() {
        closed = true;
    }
}
